/** The three tasks of the paper for experiments: the network that is trained, and the network whose cost is charged. */
import { type Damping, fedmlCifarCnn, femnistCnn, flsimCnn, logisticRegression, type Model } from '@basa/learning';
import type { ScheduledTask, Cell as TimedCell } from '@basa/simulator/virtual-time';
import type { TaskName } from './learning-tasks.ts';

/** By name, for prices. */
export const MODELS: Readonly<Record<string, () => Model>> = {
  'logistic regression': () => logisticRegression(),
  'FEMNIST CNN': () => femnistCnn(),
  'FedML CIFAR CNN': () => fedmlCifarCnn(),
  'FLSim CNN': () => flsimCnn(),
};

/** A cell of an experiment. */
export interface Cell extends TimedCell<ExperimentTask> {
  /** Its line in tables and figures, if several have the same protocol. */
  readonly line?: string;
}

export interface ExperimentTask extends ScheduledTask {
  readonly dataset: 'MNIST' | 'FEMNIST' | 'CIFAR-10';
  /** The task that is really trained. */
  readonly learn: TaskName;
  /** Declared, not measured: about one second for a trip of an average user. */
  readonly secondsAnExample: number;
  readonly target: number;
  /** The learning rate of the users, if it differs from the learning task's. */
  readonly learningRate?: number;
  /**
   * The step of the server. Chosen on seed 0 without secure aggregation over the delays of Table 1, then the same for
   * every protocol.
   */
  readonly step: { readonly buffers: TaskStep; readonly rounds: TaskStep };
  /** A folder with LEAF's FEMNIST, instead of the stand-in. */
  readonly leaf?: string;
}

/** Titles say that the stand-in is no data of people. */
export function titleOf({ dataset, leaf }: Pick<ExperimentTask, 'dataset' | 'leaf'>): string {
  return dataset === 'FEMNIST' && leaf === undefined ? 'FEMNIST stand-in (48 fonts)' : dataset;
}

interface TaskStep {
  readonly rate: number;
  readonly momentum: number;
  /** The step is damped by the mean age of its updates, like the server's. */
  readonly damping?: Damping;
}

const CHARGED = {
  MNIST: 'logistic regression',
  FEMNIST: 'FEMNIST CNN',
  'CIFAR-10': 'FedML CIFAR CNN',
} as const;

/** With places for an age of 3, FedBuff's exponent is the fast one; rounds have no age. */
const DAMPING = 0.5;
const STEP: ExperimentTask['step'] = {
  buffers: { rate: 1, momentum: 0, damping: DAMPING },
  rounds: { rate: 1, momentum: 0.9 },
};

type GivenTask = Omit<ExperimentTask, 'charged' | 'dimension' | 'step'>;

/** Results are of seeds from here on. Rates are chosen on smaller ones. */
export const FIRST_SEED = 201;

export function freshSeeds(count: number): readonly number[] {
  return Array.from({ length: count }, (_, n) => FIRST_SEED + n);
}

/** By its name in costs.json. */
export function modelOf(name: string): Model {
  const make = MODELS[name];
  if (make === undefined) throw new Error(`no model is called "${name}"`);
  return make();
}

function task(rest: GivenTask & { readonly charged?: string }): ExperimentTask {
  const charged = rest.charged ?? CHARGED[rest.dataset];
  return { ...rest, charged, dimension: modelOf(charged).dimension, step: STEP };
}

export const MNIST: ExperimentTask = task({
  dataset: 'MNIST',
  learn: 'mnist',
  users: 1000,
  secondsAnExample: 1 / 60,
  target: 0.8,
  cap: { buffers: 150, rounds: 60 },
});

export const MNIST_SMOKE: ExperimentTask = { ...MNIST, target: 0.5, cap: { buffers: 6, rounds: 4 } };

export const FEMNIST: ExperimentTask = task({
  dataset: 'FEMNIST',
  learn: 'femnist',
  users: 3400,
  secondsAnExample: 1 / 200,
  target: 0.75,
  cap: { buffers: 500, rounds: 150 },
});

export const CIFAR: ExperimentTask = task({
  dataset: 'CIFAR-10',
  learn: 'cifar',
  users: 100,
  secondsAnExample: 1 / 500,
  target: 0.5,
  cap: { buffers: 500, rounds: 200 },
});

/** FLSim's own task: 200 users. */
export const CIFAR_FLSIM: ExperimentTask = task({
  dataset: 'CIFAR-10',
  learn: 'flsim',
  charged: 'FLSim CNN',
  users: 200,
  secondsAnExample: 1 / 250,
  target: 0.5,
  cap: { buffers: 600, rounds: 150 },
});

/** A tenth of the users is ten times as slow as the others, and only these have examples of two of the classes. */
function slowTenth(base: ExperimentTask, learn: TaskName, users: number, seconds: number): ExperimentTask {
  return {
    ...base,
    learn,
    users,
    slow: { users: users / 10, times: 10 },
    cap: { buffers: 2000, rounds: 2000, seconds },
  };
}

/** The virtual time of a run: the target, and what is learned after it. */
export const SLOW_TENTHS: readonly ExperimentTask[] = [
  slowTenth(MNIST, 'slow-mnist', 1000, 800),
  slowTenth(FEMNIST, 'slow-femnist', 1000, 900),
  slowTenth(CIFAR_FLSIM, 'slow-flsim', 200, 900),
];
