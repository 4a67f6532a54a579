/** The life of a device in a task: fetch the model, train, contribute, again and again. */
import type { Model, Samples, TrainRequest, TrainResult } from '@basa/learning';
import { ascii, equalBytes } from '@basa/masking';
import type { ProblemCode } from '@basa/protocol';
import type { Place } from './admission.ts';
import type { Contribution, Rejection } from './contribution.ts';
import type { Engine } from './engine.ts';
import type { Update } from './enter.ts';
import { UnreachableError } from './errors.ts';
import type { FetchedModel } from './model-fetch.ts';
import { uniform } from './outside.ts';

/** A trainer of @basa/learning, or one that trains elsewhere, in a worker say. */
export interface RoundTrainer {
  readonly model: Model;
  train(request: TrainRequest): TrainResult | Promise<TrainResult>;
}

export type Training = Partial<Omit<TrainRequest, 'start' | 'samples'>>;

export interface RunOptions {
  /** Accepted contributions to make; without it, until the signal or the task's end. */
  readonly rounds?: number;
  /** What the server's hint leaves open or gets wrong. */
  readonly training?: Training;
  readonly exampleWeight?: number;
  readonly signal?: AbortSignal;
}

export interface RunSummary {
  readonly accepted: number;
  readonly rejected: number;
  /** Why it ended: all rounds are done, or a reason that another round would meet again. */
  readonly ended: 'rounds' | ProblemCode;
}

/** Rejections that another try, or another round, may not meet; any other ends the run. */
const PASSING: ReadonlySet<ProblemCode> = new Set([
  'too-stale',
  'buffer-not-open',
  'buffer-full',
  'buffer-over',
  'lease-over',
  'slot-dropped',
  'second-deposit',
  'abandoned',
  'delta-committed',
  'zero-block',
  'task-paused',
  'no-place',
  'quota-exceeded',
  'too-many-slots',
  'rate-limited',
  'storage-full',
  'authority-unreachable',
  'database-unreachable',
  'stopping',
]);
/** Of these, the ones that the same update would meet again. */
const FRESH_UPDATE_NEEDED: ReadonlySet<ProblemCode> = new Set(['too-stale', 'zero-block', 'delta-committed']);

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

export interface RunSteps {
  admission(signal: AbortSignal): Promise<Place | Rejection>;
  model(signal: AbortSignal): Promise<FetchedModel>;
  contribute(update: Update, signal: AbortSignal): Promise<Contribution | Rejection>;
  resume(signal: AbortSignal): Promise<unknown>;
}

export async function run(
  engine: Engine,
  steps: RunSteps,
  trainer: RoundTrainer,
  data: Samples,
  options: RunOptions,
  signal: AbortSignal,
): Promise<RunSummary> {
  const { events, outside } = engine;
  await checkModel(engine, trainer.model);
  const hint = (await engine.server.task(engine.task, signal)).training;
  const blocks = trainer.model.manifest.map(({ offset, length }) => [offset, length] as const);
  let [accepted, refusals, pauses] = [0, 0, 0];
  let update: Update | undefined;
  while (options.rounds === undefined || accepted < options.rounds) {
    signal.throwIfAborted();
    try {
      await steps.resume(signal);
      const result = await nextResult();
      if (result.kind === 'accepted') {
        [accepted, pauses, update] = [accepted + 1, 0, undefined];
        continue;
      }
      if (result.reason !== 'no-place') refusals++;
      if (!PASSING.has(result.reason)) return { accepted, rejected: refusals, ended: result.reason };
      // One that is held is offered again, too: `contribute` asks for the outcome first, and says so where it stays held.
      if (FRESH_UPDATE_NEEDED.has(result.reason)) update = undefined;
      await (result.reason === 'no-place'
        ? outside.sleep(result.retryAfterMs ?? FIRST_PAUSE_MS, signal)
        : pause(result.retryAfterMs ?? 0));
    } catch (error) {
      if (!(error instanceof UnreachableError)) throw error;
      await pause(0);
    }
  }
  return { accepted, rejected: refusals, ended: 'rounds' };

  /** Whoever has no update asks for a place first, so that it does not train on a model that is old when it is done. */
  async function nextResult(): Promise<Contribution | Rejection> {
    if (update === undefined) {
      const place = await steps.admission(signal);
      if (place.kind === 'rejected') return place;
      update = await trainOnce();
    }
    return steps.contribute(update, signal);
  }

  async function trainOnce(): Promise<Update> {
    const { version, parameters } = await steps.model(signal);
    const ahead = prepareAhead(engine, signal);
    const request = { batchSize: 10, learningRate: 0.1, seed: seedOf(engine), ...hint, ...options.training };
    const { delta, loss, samples } = await trainer.train({ ...request, start: parameters, samples: data });
    await ahead;
    events.emit('trained', { version, loss, samples });
    const weight = options.exampleWeight;
    return { delta, trainedOn: version, blocks, ...(weight === undefined ? {} : { exampleWeight: weight }) };
  }

  function pause(askedMs: number): Promise<void> {
    const ceiling = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** pauses++);
    return outside.sleep(askedMs + uniform(outside.randomBytes) * ceiling, signal);
  }
}

/** The policy names the layout of the parameters; one of zeros leaves it open. */
async function checkModel({ outside, pins: { policy } }: Engine, model: Model): Promise<void> {
  if (model.dimension !== policy.dimension) {
    throw new RangeError(`the task has ${policy.dimension} parameters, ${model.name} has ${model.dimension}`);
  }
  if (policy.manifestHash.every((byte) => byte === 0)) return;
  // Whoever trains has the trainers loaded; whoever does not need not load them.
  const { manifestText } = await import('@basa/learning');
  if (!equalBytes(outside.suite.sha256(ascii(manifestText(model))), policy.manifestHash)) {
    throw new RangeError(`the parameters of ${model.name} are laid out in another way than the task's`);
  }
}

/** Makes the parts of coming encryptions that depend on nothing, between the turns of whatever else runs. */
async function prepareAhead({ outside, pins, sealings }: Engine, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && sealings.prepareOne(pins.policy.bufferSize)) {
    await outside.sleep(0, signal).catch(() => undefined); // an abort ends the loop; whoever waits hears of it elsewhere
  }
}

/** Order of examples and dropout differ from round to round; nothing secret hangs on it. */
function seedOf({ outside }: Engine): number {
  return Math.floor(uniform(outside.randomBytes) * 2 ** 32);
}
