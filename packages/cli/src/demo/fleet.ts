/** The fleet of the demo and of `basa dev`: a task of logistic regression on MNIST, and devices that are spread over worker threads. */

import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Costs } from '@basa/client/node';
import { type CreatedTask, createTaskAt } from '@basa/client/operator';
import { logisticRegression, partitionByDirichlet, type ServerStepOptions } from '@basa/learning';
import type { Training } from '@basa/protocol/policy';
import { workerModule } from '@basa/runtime/node';
import type { TrainAndTest } from '../data/mnist.ts';
import type { ModeChoice } from '../flags/task.ts';
import type { LocalServices } from '../local/local-services.ts';

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
/** Mean of the pause between two contributions of a device. */
const PAUSE_MS = 200;
/** Long enough for a slow machine; a batch with enough updates does not wait for it. */
const LEASE_MS = 60_000;
/** The paper's t_out, for which every other device waits if one that holds the position is gone. */
const TIME_OUT_MS = 5000;
const STALL_MS = 1500;
const ENROLMENT_MS = 3_600_000;

/** Mean training loss of the devices: a curve that needs no test set. A guess among ten digits costs 2.3. */
const METRICS: readonly Training.MetricRange[] = [{ name: 'loss', low: 0, high: 5 }];

export interface FleetOptions {
  readonly name: string;
  readonly mode: ModeChoice;
  readonly bufferSize: number;
  /** 80 % of K by default. */
  readonly minimum?: number;
  /** Two for each update of a step by default. */
  readonly places?: number;
  /** The number of authorities that every step needs. */
  readonly threshold?: number;
  /** Versions at which the task ends. */
  readonly versions?: number;
  /** The target that the page Watch draws. */
  readonly target?: number;
  readonly devices: number;
  /** One-shot: the share of contributions that are permanently given up before they are sent. */
  readonly dropShare?: number;
  readonly pauseMs?: number;
  /** The folder of the devices. */
  readonly folder: string;
  readonly seed: number;
  readonly threads: number;
}

/**
 * Creates the task at the authorities, then at the server, with MNIST's test set to evaluate on, and enrols and starts the devices,
 * each with a share of the training set. The same settings give the same task.
 */
export async function startFleet(
  services: LocalServices,
  { devices, folder, threads, dropShare = 0, pauseMs = PAUSE_MS, versions, ...settings }: FleetOptions,
  { train, test }: TrainAndTest,
): Promise<Fleet> {
  const { mode, bufferSize, seed, places = PLACES_AN_UPDATE * bufferSize, ...task } = settings;
  const created = await createTaskAt(services, {
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
    stop: versions === undefined ? {} : { version: versions },
    // MNIST is public, and whoever tries this out looks at it on the pages.
    publicModels: true,
    evaluationSet: test,
  });
  const { labels, classes } = train;
  const shares = partitionByDirichlet({ labels, classes, users: Math.max(1, devices), alpha: SKEW, seed }).users;
  const until = Date.now() + ENROLMENT_MS;
  const tokens = devices === 0 ? [] : await services.authority.tokens(created.task, devices, until);
  const work: FleetWork = {
    server: services.serverUrl,
    authority: services.authorityUrl,
    authorityKey: services.authorityKey,
    task: created.task,
    ...{ mode, seed, pauseMs, dropShare },
    devices: tokens.map((token, number) => ({
      number,
      folder: join(folder, 'devices', mode, String(number)),
      token,
      indices: shares[number] ?? new Uint32Array(),
    })),
  };
  const accepted: AcceptedNews[] = [];
  const counts = { dropped: 0, requests: 0 };
  let failure: Error | undefined;
  const { script, execArgv } = workerModule(import.meta.url, './fleet-worker');
  const parts = Array.from({ length: threads }, (_, n) => work.devices.filter(({ number }) => number % threads === n));
  const busy = parts.filter((part) => part.length > 0);
  const workers = busy.map((part) => {
    const workerData: FleetWork = { ...work, devices: part };
    const worker = new Worker(script, { workerData, ...(execArgv !== undefined && { execArgv: [...execArgv] }) });
    worker.on('message', (news: FleetNews) => {
      if (news.kind === 'accepted') accepted.push(news);
      else counts[news.kind] += news.count;
    });
    worker.on('error', (error: Error) => {
      failure ??= error;
    });
    return { worker, ended: new Promise((resolve) => worker.once('exit', resolve)) };
  });
  return {
    created,
    work,
    tally: () => ({ ...counts, accepted: [...accepted] }),
    check(): void {
      if (failure !== undefined) throw failure;
    },
    async stop(): Promise<void> {
      for (const { worker } of workers) worker.postMessage('stop');
      await Promise.all(workers.map(({ ended }) => ended));
    },
  };
}

export interface Fleet {
  readonly created: CreatedTask;
  readonly work: FleetWork;
  tally(): FleetTally;
  /** Throws the error with which a worker failed. */
  check(): void;
  /** Devices end their current work, wipe their secrets and close. */
  stop(): Promise<void>;
}

export interface FleetTally {
  readonly accepted: readonly AcceptedNews[];
  readonly dropped: number;
  /** All requests of the devices to both services. */
  readonly requests: number;
}

export interface FleetDevice {
  readonly number: number;
  readonly folder: string;
  readonly token: string;
  /** Its examples in the training set. */
  readonly indices: Uint32Array;
}

export interface FleetWork extends Required<Pick<FleetOptions, 'mode' | 'seed' | 'pauseMs' | 'dropShare'>> {
  readonly server: string;
  readonly authority: string;
  readonly authorityKey: string;
  readonly task: string;
  readonly devices: readonly FleetDevice[];
}

/** An update that the server accepted, with its training settings, so that the run can be repeated without security. */
export interface AcceptedNews {
  readonly kind: 'accepted';
  readonly device: number;
  readonly round: number;
  readonly trainedOn: number;
  /** The name of the buffer, or in one-shot mode of the upload. */
  readonly ctx: string;
  readonly costs: Costs;
}

/** Contributions that dropped out, and requests, since the last message of a thread. */
export type FleetNews = AcceptedNews | { readonly kind: 'dropped' | 'requests'; readonly count: number };
