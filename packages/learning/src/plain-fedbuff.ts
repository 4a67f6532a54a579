/**
 * Plain FedBuff in virtual time: C users always training, K updates a version, no cryptography. Small on purpose:
 * enough to see a model learn; devices, faults and protocols belong to the simulator.
 */

import { RunMetrics } from './metrics.ts';
import type { RandomStream } from './random-stream.ts';
import { randomStream } from './random-stream.ts';
import type { ServerStep } from './server-step.ts';
import type { Staleness } from './staleness.ts';
import { stalenessWeight } from './staleness.ts';
import type { Evaluation, TrainResult } from './trainer.ts';
import { WeightedMean } from './weighted-mean.ts';

export interface PlainFedBuff {
  readonly start: Float32Array;
  readonly users: number;
  readonly concurrency: number;
  readonly bufferSize: number;
  readonly versions: number;
  readonly staleness: Staleness;
  readonly step: ServerStep;
  readonly seed: number;
  /** Mean of the exponential delay of a trip, beside one unit of training. */
  readonly delay: number;
  /** A trip's training; may run elsewhere, and starts as soon as the trip does. */
  train(trip: { user: number; trip: number; start: Float32Array; seed: number }): TrainResult | Promise<TrainResult>;
  evaluate(parameters: Float32Array): Evaluation | Promise<Evaluation>;
  /** How often to evaluate: every `evaluateEvery` versions. */
  readonly evaluateEvery: number;
  /** Ends the run early, once the accuracy is reached. */
  readonly target?: number;
  onVersion?(version: number, evaluation: Evaluation | undefined, metrics: RunMetrics): void;
}

export interface PlainFedBuffResult {
  readonly parameters: Float32Array;
  readonly metrics: RunMetrics;
}

interface Trip {
  readonly user: number;
  readonly trip: number;
  readonly version: number;
  readonly end: number;
  readonly result: TrainResult | Promise<TrainResult>;
}

export async function runPlainFedBuff(run: PlainFedBuff): Promise<PlainFedBuffResult> {
  const metrics = new RunMetrics();
  const parameters = Float32Array.from(run.start);
  const buffer = new WeightedMean(parameters.length);
  const selection = randomStream(run.seed, 'select');
  const training: Trip[] = [];
  let trips = 0;
  let version = 0;
  const depart = (time: number): void => {
    const user = idleUser(run.users, training, selection);
    const trip = trips++;
    const end = time + 1 + run.delay * randomStream(run.seed, 'delay', trip).exponential();
    const seed = randomStream(run.seed, 'batch', user, trip).u32();
    const start = Float32Array.from(parameters);
    training.push({ user, trip, version, end, result: run.train({ user, trip, start, seed }) });
  };
  while (training.length < run.concurrency) depart(0);
  while (version < run.versions) {
    const arrival = takeEarliest(training);
    const { delta, loss, samples } = await arrival.result;
    const staleness = version - arrival.version;
    const weight = stalenessWeight(run.staleness, staleness);
    if (weight > 0) buffer.add(delta, weight);
    metrics.addTrip({
      user: arrival.user,
      trip: arrival.trip,
      version: arrival.version,
      staleness,
      weight,
      loss,
      samples,
    });
    if (buffer.count === run.bufferSize) {
      run.step.applyInPlace(parameters, buffer.take());
      version++;
      const evaluation = version % run.evaluateEvery === 0 ? await run.evaluate(parameters) : undefined;
      if (evaluation !== undefined) metrics.addVersion({ version, time: arrival.end, ...evaluation });
      run.onVersion?.(version, evaluation, metrics);
      if (run.target !== undefined && evaluation !== undefined && evaluation.accuracy >= run.target) break;
    }
    depart(arrival.end);
  }
  return { parameters, metrics };
}

function idleUser(users: number, training: readonly Trip[], selection: RandomStream): number {
  if (training.length >= users) throw new RangeError(`${users} users cannot keep more than ${users} training`);
  for (;;) {
    const user = selection.below(users);
    if (training.every((trip) => trip.user !== user)) return user;
  }
}

/** The trip that ends first; of equals the one that began first. */
function takeEarliest(training: Trip[]): Trip {
  let best = 0;
  for (let n = 1; n < training.length; n++) {
    const [a, b] = [training[n] as Trip, training[best] as Trip];
    if (a.end < b.end || (a.end === b.end && a.trip < b.trip)) best = n;
  }
  return training.splice(best, 1)[0] as Trip;
}
