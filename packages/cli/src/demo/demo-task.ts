/** The task of the demo and of `basa dev`: logistic regression on MNIST. */

import { join } from 'node:path';
import { type CreatedTask, createTaskAt } from '@basa/client/operator';
import { type Dataset, logisticRegression, partitionByDirichlet, type ServerStepOptions } from '@basa/learning';
import type { Training } from '@basa/protocol/policy';
import type { ModeChoice } from '../flags/task.ts';
import type { LocalServices } from '../local/local-services.ts';
import type { FleetWork } from './fleet.ts';

/**
 * Settings that learned steadily in virtual time: all of MNIST over the fleet, one epoch per update, a whole step for
 * fresh updates.
 */
const TRAINING: Training.TaskTraining = { epochs: 1, batchSize: 32, learningRate: 0.1, loss: 'softmaxCrossEntropy' };
/** A third of the median norm of the first updates (3.4 with 20 devices): the noise grows with it, and the model ends 0.3 points from the one without noise, with 3.4 more than one. */
const CLIP = 1.2;
export const SERVER_STEP: ServerStepOptions = { kind: 'fedbuff', rate: 1 };
/**
 * The similarity of the devices' shares of digits (Dirichlet): 5 is a mild skew; at 0.5 single versions fall by up to 8
 * points.
 */
const SKEW = 5;
/** As many places as two batches: while one of them is summed, the other fills, and updates are one version old. */
const PLACES_AN_UPDATE = 2;
const PAUSE_MS = 200;
/** Long enough for a slow machine; a batch with enough updates does not wait for it. */
const LEASE_MS = 60_000;
/** The paper's t_out, for which every other device waits if one that holds the position is gone. */
const TIME_OUT_MS = 5000;
const STALL_MS = 1500;

/** Mean training loss of the devices: a curve that needs no test set. A guess among ten digits costs 2.3. */
const METRICS: readonly Training.MetricRange[] = [{ name: 'loss', low: 0, high: 5 }];

export interface DemoTaskOptions {
  readonly name: string;
  readonly bufferSize: number;
  /** 80 % of K by default. */
  readonly minimum?: number;
  /** Two for each update of a step by default. */
  readonly places?: number;
  readonly mode: ModeChoice;
  /** The number of authorities that every step needs. */
  readonly threshold?: number;
  readonly seed: number;
  readonly stop: { readonly accuracy?: number; readonly version?: number };
  /** The target that the page Watch draws. */
  readonly target?: number;
}

/**
 * Creates the task at the authorities, then at the server, with MNIST's test set to evaluate on. The same settings give
 * the same task.
 */
export function createDemoTask(services: LocalServices, options: DemoTaskOptions, test: Dataset): Promise<CreatedTask> {
  const { bufferSize, mode, seed, places = PLACES_AN_UPDATE * bufferSize, ...task } = options;
  return createTaskAt(services, {
    ...task,
    mode,
    bufferSize,
    model: logisticRegression(),
    training: TRAINING,
    ...(mode === 'paper'
      ? { uploadLeaseMs: TIME_OUT_MS }
      : { clip: CLIP, metrics: METRICS, uploadLeaseMs: LEASE_MS, places, stallMs: STALL_MS }),
    initial: { seed },
    serverStep: SERVER_STEP,
    // MNIST is public, and whoever tries this out looks at it on the pages.
    publicModels: true,
    evaluationSet: test,
  });
}

export interface FleetOptions {
  readonly mode: ModeChoice;
  readonly devices: number;
  readonly dropShare: number;
  readonly folder: string;
  readonly seed: number;
}

/** Enrols the devices, each with a share of the training set. */
export async function fleetWork(
  services: LocalServices,
  { mode, devices, dropShare, folder, seed }: FleetOptions,
  task: string,
  train: Dataset,
): Promise<FleetWork> {
  const { labels, classes } = train;
  const partition = partitionByDirichlet({ labels, classes, users: devices, alpha: SKEW, seed });
  const tokens = await services.authority.tokens(task, devices, Date.now() + 3_600_000);
  return {
    server: services.serverUrl,
    authority: services.authorityUrl,
    authorityKey: services.authorityKey,
    task,
    mode,
    devices: tokens.map((token, number) => ({
      number,
      folder: join(folder, 'devices', mode, String(number)),
      token,
      indices: partition.users[number] ?? new Uint32Array(),
    })),
    seed,
    pauseMs: PAUSE_MS,
    dropShare,
  };
}
