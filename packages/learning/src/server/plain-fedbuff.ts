/**
 * Plain FedBuff in virtual time: C users always training, K updates a version, no cryptography. Small on purpose:
 * enough to see a model learn; devices, faults and protocols belong to the simulator.
 */

import { type Evaluation, scoreOf } from '../training/scores.ts';
import type { TrainResult } from '../training/trainer.ts';
import { type FedBuffEvent, type FedBuffSchedule, fedBuffSchedule, type Trip } from './fedbuff-schedule.ts';
import { RunMetrics, type TripRecord, type VersionRecord } from './metrics.ts';
import type { ServerStep } from './server-step.ts';
import { type Divisor, WeightedMean } from './weighted-mean.ts';

export interface PlainFedBuff extends FedBuffSchedule {
  readonly start: Float32Array;
  readonly step: ServerStep;
  /** The divisor of the weighted sum of a buffer: `count` by default. */
  readonly divideBy?: Divisor;
  /** Trains for one trip; it may run elsewhere, and starts as soon as the trip does. It must not write to `start`. */
  train(trip: { user: number; trip: number; start: Float32Array; seed: number }): TrainResult | Promise<TrainResult>;
  evaluate(parameters: Float32Array): Evaluation | Promise<Evaluation>;
  /** Evaluates every `evaluateEvery` versions. */
  readonly evaluateEvery: number;
  /** Ends the run early, once the score of a version reaches it: the accuracy, or the first score that the trainer names. */
  readonly target?: number;
  /** Continues another run with the same arguments; `step` must have been made with its `memory`. */
  readonly resume?: FedBuffCheckpoint;
  onVersion?(version: number, evaluation: Evaluation | undefined, at: FedBuffPlace): void;
}

/** The state of a run when a version has been made. */
interface FedBuffPlace {
  readonly metrics: RunMetrics;
  checkpoint(): FedBuffCheckpoint;
}

/** Everything about a run that does not follow from its arguments. */
export interface FedBuffCheckpoint {
  readonly version: number;
  /** The newest model, and the models with which current trips started, by version. */
  readonly models: ReadonlyMap<number, Float32Array>;
  /** The memory of the server's step. */
  readonly memory: Float64Array;
  readonly trips: readonly TripRecord[];
  readonly versions: readonly VersionRecord[];
}

export interface PlainFedBuffResult {
  readonly parameters: Float32Array;
  readonly metrics: RunMetrics;
}

export async function runPlainFedBuff(run: PlainFedBuff): Promise<PlainFedBuffResult> {
  const { resume } = run;
  const events = fedBuffSchedule(run);
  const metrics = new RunMetrics(resume);
  const models = new Map(resume?.models ?? [[0, Float32Array.from(run.start)]]);
  const parameters = Float32Array.from(modelOf(models, resume?.version ?? 0));
  const buffer = new WeightedMean(parameters.length);
  const underWay = new Map<Trip, TrainResult | Promise<TrainResult>>();
  const depart = (trip: Trip): void => {
    const { user, seed } = trip;
    underWay.set(trip, run.train({ user, trip: trip.trip, start: modelOf(models, trip.version), seed }));
  };
  if (resume !== undefined) {
    const trips = underWayAt(resume.version, events);
    if (isReached(run, metrics.versions.at(-1))) return { parameters, metrics };
    trips.forEach(depart);
  }
  for (const event of events) {
    if (event.kind === 'departed') depart(event.trip);
    else if (event.kind === 'arrived') {
      const { trip, staleness, weight } = event;
      const { delta, loss, samples } = (await underWay.get(trip)) as TrainResult;
      underWay.delete(trip);
      if (weight > 0) buffer.add(delta, weight);
      const { user, version } = trip;
      metrics.addTrip({ user, trip: trip.trip, version, staleness, weight, loss, samples });
    } else {
      const { version, time } = event;
      run.step.applyInPlace(parameters, buffer.take(run.divideBy ?? 'count'));
      keepOnly(models, new Set([...underWay.keys()].map((trip) => trip.version)));
      models.set(version, Float32Array.from(parameters));
      const evaluation = version % run.evaluateEvery === 0 ? await run.evaluate(parameters) : undefined;
      if (evaluation !== undefined) metrics.addVersion({ version, time, ...evaluation });
      const { trips, versions } = metrics;
      run.onVersion?.(version, evaluation, {
        metrics,
        checkpoint: () => ({
          version,
          models: new Map(models),
          memory: run.step.memory(),
          trips: [...trips],
          versions: [...versions],
        }),
      });
      if (isReached(run, evaluation)) break;
    }
  }
  return { parameters, metrics };
}

function isReached({ target }: PlainFedBuff, evaluation: Evaluation | undefined): boolean {
  return (
    target !== undefined &&
    evaluation !== undefined &&
    (scoreOf(evaluation)?.value ?? Number.NEGATIVE_INFINITY) >= target
  );
}

/** Plays the schedule until the version is made, and returns the trips under way at that time. */
function underWayAt(version: number, events: Iterator<FedBuffEvent>): readonly Trip[] {
  const trips = new Set<Trip>();
  for (;;) {
    const { value: event, done } = events.next();
    if (done) throw new RangeError(`a run to fewer than ${version} versions cannot go on from there`);
    if (event.kind === 'departed') trips.add(event.trip);
    else if (event.kind === 'arrived') trips.delete(event.trip);
    else if (event.version === version) return [...trips];
  }
}

function modelOf(models: ReadonlyMap<number, Float32Array>, version: number): Float32Array {
  const model = models.get(version);
  if (model === undefined) throw new RangeError(`the checkpoint has no model of version ${version}`);
  return model;
}

function keepOnly(models: Map<number, Float32Array>, versions: ReadonlySet<number>): void {
  for (const version of models.keys()) if (!versions.has(version)) models.delete(version);
}
