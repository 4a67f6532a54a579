/** The three tasks of the paper as experiments have them: what is trained, and what it is charged as. */
import type { Model } from '@basa/learning';
import { fedmlCifarCnn, femnistCnn, flsimCnn, logisticRegression } from '@basa/learning';
import type { TaskName } from './learning-tasks.ts';

/** By name, for prices. */
export const MODELS: Readonly<Record<string, () => Model>> = {
  'logistic regression': () => logisticRegression(),
  'FEMNIST CNN': () => femnistCnn(),
  'FedML CIFAR CNN': () => fedmlCifarCnn(),
  'FLSim CNN': () => flsimCnn(),
};

export interface ExperimentTask {
  readonly dataset: 'MNIST' | 'FEMNIST' | 'CIFAR-10';
  /** What really learns. */
  readonly learn: TaskName;
  /** Whose training time and dimension is charged: the paper's network. */
  readonly charged: string;
  readonly dimension: number;
  /** The network that learns is smaller than the one that is charged. */
  readonly isHybrid: boolean;
  readonly users: number;
  /** Examples of a trip at most. */
  readonly mostExamples: number;
  readonly target: number;
  /** Versions after which a run is given up, asynchronous and in rounds. */
  readonly cap: { readonly buffers: number; readonly rounds: number };
  readonly step: {
    readonly buffers: { readonly rate: number; readonly momentum: number };
    readonly rounds: { readonly rate: number; readonly momentum: number };
  };
}

const CHARGED = {
  MNIST: 'logistic regression',
  FEMNIST: 'FEMNIST CNN',
  'CIFAR-10': 'FedML CIFAR CNN',
} as const;

function task(rest: Omit<ExperimentTask, 'charged' | 'dimension'> & { readonly charged?: string }): ExperimentTask {
  const charged = rest.charged ?? CHARGED[rest.dataset];
  const dimension = MODELS[charged]?.().dimension;
  if (dimension === undefined) throw new Error(`no model is called "${charged}"`);
  return { ...rest, charged, dimension };
}

/** Chosen once on runs without secure aggregation, then frozen for every protocol (fact sheet 4.2). */
const STEP: ExperimentTask['step'] = { buffers: { rate: 1, momentum: 0 }, rounds: { rate: 1, momentum: 0.9 } };

export const MNIST: ExperimentTask = task({
  dataset: 'MNIST',
  learn: 'mnist',
  isHybrid: false,
  users: 1000,
  mostExamples: Number.POSITIVE_INFINITY,
  target: 0.8,
  cap: { buffers: 200, rounds: 100 },
  step: STEP,
});

export const MNIST_SMOKE: ExperimentTask = { ...MNIST, target: 0.5, cap: { buffers: 6, rounds: 3 } };

export const FEMNIST: ExperimentTask = task({
  dataset: 'FEMNIST',
  learn: 'femnist',
  isHybrid: false,
  users: 3400,
  mostExamples: Number.POSITIVE_INFINITY,
  target: 0.75,
  cap: { buffers: 500, rounds: 150 },
  step: STEP,
});

export const CIFAR: ExperimentTask = task({
  dataset: 'CIFAR-10',
  learn: 'cifar',
  isHybrid: false,
  users: 100,
  mostExamples: Number.POSITIVE_INFINITY,
  target: 0.5,
  cap: { buffers: 400, rounds: 150 },
  step: STEP,
});

/** The data and users of the paper's tasks, FLSim's network and fewer examples a trip: a grid fits an hour. */
export const FEMNIST_SMALL: ExperimentTask = {
  ...FEMNIST,
  learn: 'femnist-small',
  isHybrid: true,
  mostExamples: 60,
};

export const CIFAR_SMALL: ExperimentTask = { ...CIFAR, learn: 'cifar-small', isHybrid: true, mostExamples: 60 };

/** FLSim's own task: 200 users, charged as what it is. */
export const CIFAR_FLSIM: ExperimentTask = task({
  dataset: 'CIFAR-10',
  learn: 'flsim',
  charged: 'FLSim CNN',
  isHybrid: false,
  users: 200,
  mostExamples: 60,
  target: 0.5,
  cap: { buffers: 600, rounds: 150 },
  step: STEP,
});
