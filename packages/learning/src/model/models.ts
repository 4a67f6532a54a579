/** The four networks of the paper's experiments (appendix B.3), and the quirks of their published code. */
import { conv2d, dense, dropout, flatten, groupNorm, type Layer, maxPool, relu, sigmoid, softmax } from './layers.ts';
import { defineModel, type Model, type Shape } from './model.ts';

const MNIST: Shape = { height: 28, width: 28, channels: 1 };
const CIFAR: Shape = { height: 32, width: 32, channels: 3 };

/** Softmax regression on MNIST, d = 7,850. FedML puts a sigmoid before the loss: `sigmoidQuirk`. */
export function logisticRegression(options: { readonly sigmoidQuirk?: boolean } = {}): Model {
  const quirk = options.sigmoidQuirk ? [sigmoid] : [];
  return defineModel('logistic regression', MNIST, [flatten, dense(10, { name: 'linear' }), ...quirk]);
}

/** Reddi et al.'s network for FEMNIST (FedML's CNN_DropOut), d = 1,206,590 for 62 classes. */
export function femnistCnn(options: { readonly classes?: number } = {}): Model {
  return defineModel('FEMNIST CNN', MNIST, [
    conv2d(32, 3, { name: 'conv1' }),
    relu,
    conv2d(64, 3, { name: 'conv2' }),
    relu,
    maxPool(2),
    dropout(0.25),
    flatten,
    dense(128, { name: 'dense1' }),
    relu,
    dropout(0.5),
    dense(options.classes ?? 62, { name: 'dense2' }),
  ]);
}

/** FedML's Cifar10FLNet, d = 1,756,426. FedML ends in a softmax before the loss: `softmaxQuirk`. */
export function fedmlCifarCnn(options: { readonly softmaxQuirk?: boolean } = {}): Model {
  const quirk = options.softmaxQuirk ? [softmax] : [];
  return defineModel('FedML CIFAR CNN', CIFAR, [
    conv2d(64, 5, { padding: 2, name: 'conv1' }),
    relu,
    maxPool(3, { stride: 2, padding: 1 }),
    conv2d(64, 5, { padding: 2, name: 'conv2' }),
    relu,
    maxPool(3, { stride: 2, padding: 1 }),
    flatten,
    dense(384, { name: 'fc1' }),
    relu,
    dense(192, { name: 'fc2' }),
    relu,
    dense(10, { name: 'fc3' }),
    ...quirk,
  ]);
}

/** FLSim's SimpleConvNet, d = 31,594: its four stages share one group norm. */
export function flsimCnn(options: { readonly input?: Shape; readonly classes?: number } = {}): Model {
  const stage = (index: number): readonly Layer[] => [
    conv2d(32, 3, { padding: 2, name: `conv${index}` }),
    groupNorm(32, { name: 'norm' }),
    relu,
    maxPool(2),
  ];
  return defineModel('FLSim CNN', options.input ?? CIFAR, [
    ...[1, 2, 3, 4].flatMap(stage),
    flatten,
    dense(options.classes ?? 10, { name: 'fc' }),
  ]);
}
