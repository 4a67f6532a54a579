/** The hot loops of training: the port that wasm SIMD fills. Addresses are byte offsets into the kernel's memory. */

/**
 * Images are NHWC, weights [outputs, ...inputs]; gradients of weights are added to their target. The right operand of a
 * product is packed into panels: for every 16 columns, `rows` times 16 words, the last panel filled with zeros. Reads
 * may pass the end of an area by 64 bytes. Not re-entrant: one kernel per trainer.
 */
export interface TrainingKernel {
  readonly name: string;
  /** The first free address. */
  readonly start: number;
  /** All memory, with room for `bytes` from `start` on. Called once. */
  reserve(bytes: number): ArrayBuffer;

  /** to[r] = row, for every row r. */
  fillRows(to: number, row: number, rows: number, columns: number): void;
  /** to[c] += sum over r of from[r][c]. */
  sumRows(to: number, from: number, rows: number, columns: number): void;
  /** Panels of a row-major matrix. */
  packRows(to: number, from: number, rows: number, columns: number): void;
  /** Panels of the transpose of a row-major matrix of `columns` by `rows`. */
  packColumns(to: number, from: number, rows: number, columns: number): void;
  /** Panels that turn a convolution around: to[(tap, o)][c] = from[o][last tap - tap][c]. */
  packTurned(to: number, from: number, outputs: number, taps: number, channels: number): void;
  /** c[m][n] += a[m][k] b[k][n], b in panels. */
  multiply(m: number, n: number, k: number, a: number, b: number, c: number): void;
  /** c[m][n] += a[k][m] b[k][n], both row-major. */
  multiplyTransposed(m: number, n: number, k: number, a: number, b: number, c: number): void;

  /** Copies an image into one of zeros, `pad` from top and left, `stride` apart. */
  spreadImage(
    to: number,
    from: number,
    height: number,
    width: number,
    channels: number,
    pad: number,
    stride: number,
    toHeight: number,
    toWidth: number,
  ): void;
  /** to[y][x][o] += window of a padded image times panels. */
  convolve(
    to: number,
    from: number,
    panels: number,
    height: number,
    width: number,
    outputs: number,
    fromWidth: number,
    channels: number,
    windowHeight: number,
    windowWidth: number,
    stride: number,
  ): void;
  /** weights[o][window] += gradient[y][x][o] times the window at (y, x). */
  convolveGradient(
    weights: number,
    gradient: number,
    from: number,
    height: number,
    width: number,
    outputs: number,
    fromWidth: number,
    channels: number,
    windowHeight: number,
    windowWidth: number,
    stride: number,
  ): void;
  maxPool(
    to: number,
    places: number,
    from: number,
    height: number,
    width: number,
    channels: number,
    toHeight: number,
    toWidth: number,
    window: number,
    stride: number,
    pad: number,
  ): void;
  maxPoolGradient(to: number, places: number, gradient: number, inputs: number, outputs: number): void;
  groupNorm(
    to: number,
    from: number,
    statistics: number,
    scale: number,
    shift: number,
    pixels: number,
    channels: number,
    groups: number,
    epsilon: number,
  ): void;
  groupNormGradient(
    to: number,
    gradient: number,
    from: number,
    statistics: number,
    scale: number,
    scaleGradient: number,
    shiftGradient: number,
    work: number,
    pixels: number,
    channels: number,
    groups: number,
  ): void;

  /** Values below 1e-18 become zero; NaN stays. */
  flush(at: number, words: number): void;
  relu(at: number, words: number): void;
  reluGradient(gradient: number, output: number, words: number): void;
  multiplyElements(at: number, factors: number, words: number): void;
  sigmoid(at: number, words: number): void;
  sigmoidGradient(gradient: number, output: number, words: number): void;
  softmax(at: number, rows: number, classes: number): void;
  softmaxGradient(gradient: number, output: number, rows: number, classes: number): void;
  /** Returns the sum of losses; gradient = (softmax - one-hot) scale. */
  softmaxCrossEntropy(
    gradient: number,
    logits: number,
    labels: number,
    rows: number,
    classes: number,
    scale: number,
  ): number;
  descend(
    weights: number,
    gradient: number,
    velocity: number,
    words: number,
    rate: number,
    momentum: number,
    decay: number,
    scale: number,
  ): void;
  squaredNorm(at: number, words: number): number;
}
