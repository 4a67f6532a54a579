/**
 * The training kernel (AssemblyScript, SIMD): the hot loops of convolutional networks over one linear memory.
 * Activations are NHWC, weights are [outputs, ...inputs], and every gradient is added to what its place holds.
 * Addresses are byte offsets, multiples of 4. Reads may pass the end of an operand by up to 64 bytes: the caller
 * leaves that much behind the last one. The same source built with relaxed SIMD fuses multiply and add.
 */

export { convolve, convolveGradient, spreadImage } from './training/convolution';
export { descend, squaredNorm, sumRows } from './training/descent';
export { flush, multiplyElements, relu, reluGradient, sigmoid, sigmoidGradient } from './training/elementwise';
export { groupNorm, groupNormGradient } from './training/group-norm';
export { fillRows, multiply, multiplyTransposed, packColumns, packRows, packTurned } from './training/matrix';
export { maxPool, maxPoolGradient } from './training/max-pool';
export { softmax, softmaxCrossEntropy, softmaxGradient } from './training/softmax';
