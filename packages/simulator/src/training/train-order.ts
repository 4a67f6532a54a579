/** Trains an order: real updates, quantised, summed by the parties of the protocols, one server step per version. */
import type { AggregationProtocol } from '@basa/baselines';
import {
  createServerStep,
  type Damping,
  type Evaluation,
  initialParameters,
  randomStream,
  type Samples,
  scoreOf,
  type Trainer,
  WeightedMean,
} from '@basa/learning';
import { addInPlace, dequantizeSum, FIELD, plainVectorKernel, quantize } from '@basa/masking';
import type { Order, OrderedUpdate } from '../cells/trajectory.ts';
import { seededWords } from '../simulation/environment.ts';
import { type LearnTask, type TrainedUpdate, trainUpdate, type UpdateRequest } from './train-update.ts';

export interface TrainOrder {
  readonly order: Order;
  readonly seed: number;
  /** With a damping, steps are damped by the mean age of their updates, like the server's. */
  readonly step: {
    /** Adam instead of momentum. */
    readonly isAdam?: boolean;
    readonly rate: number;
    readonly momentum: number;
    readonly damping?: Damping;
  };
  /** Steps to the unit; without it updates stay floats, as without secure aggregation. */
  readonly level?: number | undefined;
  readonly target: number;
  /** The mean of this many evaluations decides whether the target is reached; 1 by default. */
  readonly evaluations?: number;
  /** The run goes on after the target, to its last version. */
  readonly isWhole?: boolean;
  /**
   * The protocols whose real parties sum this many inputs, and the versions in which they do; the sums must be equal,
   * bit by bit.
   */
  readonly parties: (users: number) => readonly AggregationProtocol[];
  readonly partiesEvery: number;
}

export interface Trained {
  /** By evaluated version: the accuracy, or the first score that the trainer names. */
  readonly accuracy: readonly (readonly [version: number, accuracy: number])[];
  /** The first version at which the mean of the last evaluations reached the target, or undefined. */
  readonly reached: number | undefined;
  readonly wholeAccuracy: number;
  /** Of the last version on the part of the test set that the task names. */
  readonly partAccuracy?: number;
  readonly samples: number;
  readonly clipped: number;
  /** The number of sums that real parties made. */
  readonly partySums: number;
}

/** A version that was just made; `parameters` change with the next one. */
export interface MadeVersion {
  readonly version: number;
  /** Mean over the updates, each before its own training. */
  readonly trainLoss: number;
  readonly evaluation: Evaluation | undefined;
  readonly parameters: Float32Array;
}

const CLIP = 16;

/** Updates of a version do not depend on each other: `train` may compute many at a time, elsewhere. */
export async function trainOrder(
  run: TrainOrder,
  task: LearnTask,
  trainer: Trainer,
  train: (request: UpdateRequest) => Promise<TrainedUpdate> = async (request) => trainUpdate(request, task, trainer),
  onVersion: (made: MadeVersion) => Promise<void> = async () => {},
): Promise<Trained> {
  const parameters = initialParameters(task.model, run.seed);
  const models = new Map([[0, parameters.slice()]]);
  const lastUse = lastUses(run.order);
  const step = createServerStep({ kind: run.step.isAdam ? 'fedadam' : 'fedavg', ...run.step });
  const accuracy: [number, number][] = [];
  const totals = { samples: 0, clipped: 0, partySums: 0 };
  let reached: number | undefined;
  for (const [n, updates] of run.order.entries()) {
    const version = n + 1;
    const trained = await Promise.all(updates.map((update) => train(requestOf(run, update, models))));
    const mean = meanOf(run, updates, trained, task.model.dimension, totals, version);
    step.applyInPlace(parameters, mean, run.step.damping === undefined ? 0 : meanAgeOf(updates, n));
    models.set(version, parameters.slice());
    for (const old of models.keys()) if ((lastUse.get(old) ?? -1) <= n && old !== version) models.delete(old);
    const isLooked = version % task.evaluateEvery === 0;
    const evaluation = isLooked ? trainer.evaluate(parameters, task.quickTest) : undefined;
    if (evaluation !== undefined) accuracy.push([version, scoreValue(evaluation)]);
    const trainLoss = trained.reduce((sum, { loss }) => sum + loss, 0) / trained.length;
    await onVersion({ version, trainLoss, evaluation, parameters });
    if (evaluation === undefined || lastMean(accuracy, run.evaluations ?? 1) < run.target) continue;
    reached ??= version;
    if (run.isWhole !== true) break;
  }
  const accuracyOn = (test: Samples): number => scoreValue(trainer.evaluate(parameters, test));
  const part = task.partTest !== undefined && { partAccuracy: accuracyOn(task.partTest) };
  return { accuracy, reached, wholeAccuracy: accuracyOn(task.wholeTest), ...part, ...totals };
}

function scoreValue(evaluation: Evaluation): number {
  return scoreOf(evaluation)?.value ?? Number.NaN;
}

/** The mean of the last `count` evaluations; minus infinity if there are fewer. */
function lastMean(accuracy: readonly (readonly [number, number])[], count: number): number {
  if (accuracy.length < count) return Number.NEGATIVE_INFINITY;
  return accuracy.slice(-count).reduce((sum, [, value]) => sum + value, 0) / count;
}

function meanOf(
  run: TrainOrder,
  updates: readonly OrderedUpdate[],
  trained: readonly TrainedUpdate[],
  dimension: number,
  totals: { samples: number; clipped: number; partySums: number },
  version: number,
): Float32Array | Float64Array {
  const { level } = run;
  const floats = new WeightedMean(dimension);
  const inputs: Uint32Array[] = [];
  let weightSum = 0;
  for (const [n, update] of updates.entries()) {
    const { delta, samples } = trained[n] as TrainedUpdate;
    totals.samples += samples;
    if (level === undefined) floats.add(delta, update.weight);
    else {
      const words = seededWords(randomStream(run.seed, 'quant', update.trip).u32());
      const wrong = delta.findIndex((value) => !Number.isFinite(value));
      if (wrong >= 0)
        throw new RangeError(
          `the training of device ${update.user} diverged before version ${version}: coordinate ${wrong} of its update is ${delta[wrong]}. Lower the learning rate, or check the data`,
        );
      const quantized = quantize(delta, { level, clip: CLIP, modulus: FIELD }, words, update.weight);
      totals.clipped += quantized.clipped;
      weightSum += update.weight;
      inputs.push(quantized.vector);
    }
  }
  if (level === undefined) return floats.take('weights');
  const sum = new Uint32Array(dimension);
  for (const input of inputs) addInPlace(sum, input, FIELD, plainVectorKernel());
  if (version % run.partiesEvery === 0) {
    for (const protocol of run.parties(inputs.length)) {
      checkSum(protocol, inputs, sum);
      totals.partySums++;
    }
  }
  return dequantizeSum(sum, { level, modulus: FIELD }, { weightSum, weightScale: 1 });
}

/** `version` is the one before the one they make. */
function meanAgeOf(updates: readonly OrderedUpdate[], version: number): number {
  return updates.reduce((sum, { trainedOn }) => sum + version - trainedOn, 0) / updates.length;
}

function requestOf(
  { seed }: TrainOrder,
  { user, trip, trainedOn }: OrderedUpdate,
  models: ReadonlyMap<number, Float32Array>,
): UpdateRequest {
  const start = models.get(trainedOn);
  if (start === undefined) throw new Error(`trip ${trip} began with version ${trainedOn}, which is gone`);
  return { seed, user, trip, start };
}

function checkSum(protocol: AggregationProtocol, inputs: readonly Uint32Array[], sum: Uint32Array): void {
  const found = protocol.aggregate({ inputs, leavesBefore: () => undefined });
  if (found.kind === 'refused')
    throw new Error(`${protocol.name} refused a sum: ${found.reason} ${found.detail ?? ''}`);
  if (found.sum.some((value, k) => value !== sum[k])) throw new Error(`${protocol.name} gave another sum`);
}

/** Returns, for each version, the last version (counted from 0) that needs its model. */
function lastUses(order: Order): ReadonlyMap<number, number> {
  const uses = new Map<number, number>();
  for (const [n, updates] of order.entries()) for (const { trainedOn } of updates) uses.set(trainedOn, n);
  return uses;
}
