/** The life of a device in a task: fetch the model, train, contribute, again and again. */
import type { Evaluation, Model, Samples, TrainRequest, TrainResult } from '@basa/learning';
import { ascii, equalBytes } from '@basa/masking';
import { isRefusalReason, type RefusalReason } from '@basa/protocol';
import { type Gathering, gatheringText, type ProblemCode, Problems } from '@basa/protocol/http';
import { Training as TrainingRules } from '@basa/protocol/policy';
import { AnswerError, ProblemError, RefusedError, SettingsError, UnreachableError } from './errors.ts';
import { uniform } from './outside.ts';
import type { DeviceContext, Place } from './session/context.ts';
import type { Update } from './session/contribute.ts';
import type { FetchedModel } from './session/models.ts';
import { type Contribution, type Rejection, rejected } from './session/results.ts';

/**
 * Values for metrics that the client does not compute. It computes `loss`, `examples` and the scores of the trainer's evaluation, such as
 * `accuracy`.
 */
type OwnMetrics = (result: TrainResult) => Readonly<Record<string, number>>;

/** For metrics that are scores, such as `accuracy` or `r2`. */
type Evaluate = (parameters: Float32Array, samples: Samples) => Evaluation | Promise<Evaluation>;

const KNOWN: ReadonlySet<string> = new Set([TrainingRules.CLIPPED.name, 'loss', 'examples']);

interface Round {
  readonly parameters: Float32Array;
  readonly data: Samples;
  readonly result: TrainResult;
  readonly own: OwnMetrics | undefined;
}

/** A device that cannot measure a metric of the task says so before its first training. Later, an update is sent whatever the numbers are. */
function checkMetrics(
  { policy }: DeviceContext,
  trainer: { readonly evaluate?: Evaluate },
  own: OwnMetrics | undefined,
): void {
  if (own !== undefined || trainer.evaluate !== undefined) return;
  const missing = policy.metrics.filter(({ name }) => !KNOWN.has(name));
  if (missing.length > 0)
    throw new SettingsError(
      `the task asks for the metrics ${missing.map(({ name }) => name).join(', ')}; measure them in \`metrics\`, or give the trainer an evaluate()`,
    );
}

/** Computes only the metrics that the task names. */
async function metricsOf(
  { policy }: DeviceContext,
  trainer: { readonly evaluate?: Evaluate },
  { parameters, data, result, own }: Round,
): Promise<Readonly<Record<string, number>>> {
  const names = new Set(policy.metrics.map(({ name }) => name));
  names.delete(TrainingRules.CLIPPED.name);
  if (names.size === 0) return {};
  const told = own?.(result) ?? {};
  const known: Record<string, number> = { loss: result.loss, examples: result.samples, ...told };
  const isAsked = [...names].some((name) => !Object.hasOwn(known, name));
  const evaluation = isAsked ? await trainer.evaluate?.(parameters, data) : undefined;
  for (const [name, value] of Object.entries(evaluation ?? {})) if (value !== undefined) known[name] ??= value;
  for (const name of names) known[name] ??= Number.NaN;
  return known;
}

/** A trainer of @basa/learning, or a trainer that runs elsewhere, for example in a worker. */
export interface RoundTrainer {
  readonly model: Model;
  /** The loss that it minimises; softmax cross-entropy by default. */
  readonly loss?: string;
  train(request: TrainRequest): TrainResult | Promise<TrainResult>;
  readonly evaluate?: Evaluate;
  /**
   * True if your application has nothing more to give: the run ends before the device asks for a place. It is asked before a training and not
   * after it, because an update that does not come tells the server something about its data.
   */
  readonly isDone?: () => boolean | Promise<boolean>;
}

export type Training = Partial<Omit<TrainRequest, 'start' | 'samples'>>;

export interface RunOptions {
  /** The number of accepted updates; without it, until the signal or the task's end. */
  readonly rounds?: number;
  /** The settings in which this application differs from the task's policy. */
  readonly training?: Training;
  readonly exampleWeight?: number;
  readonly metrics?: OwnMetrics;
  readonly signal?: AbortSignal;
}

export interface RunSummary {
  readonly accepted: number;
  /** Without updates that the server put off, or that came after their version was finished. */
  readonly rejected: number;
  /** The reason for the end: all rounds are done, the trainer is done, or a permanent refusal. */
  readonly ended: 'rounds' | 'done' | ProblemCode;
}

/** Faults of a service or of the network after all attempts of one request: they are no verdict on the update. */
function isFault(error: unknown): error is Error {
  if (error instanceof ProblemError) {
    return error.isPassing || error.code === 'unknown-problem' || Problems.problemOf(error.code).about === 'service';
  }
  return error instanceof UnreachableError || error instanceof AnswerError;
}

/** True if another round may succeed after this client's own refusal. */
function isPassing(reason: string): reason is RefusalReason {
  return isRefusalReason(reason) && Problems.problemOf(reason).retry === true;
}

/** The wait that a service asks for. */
function askedBy(error: Error): number {
  return error instanceof ProblemError ? (error.retryAfterMs ?? 0) : 0;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/** The device comes again: its update was not rejected. */
const WAITING: ReadonlySet<string> = new Set<ProblemCode>([
  'no-place',
  'given-lately',
  'version-given',
  'version-over',
]);

export interface RunSteps {
  /** Returns the reason why the device may not train now: its privacy budget is spent, or it gave a moment ago. */
  mayTrain(): Rejection | undefined;
  admission(signal: AbortSignal): Promise<Place | Rejection>;
  model(signal: AbortSignal): Promise<FetchedModel>;
  /** Returns the reason why the device may not train on this version: it already gave an update on it. */
  given(version: number): Rejection | undefined;
  contribute(update: Update, signal: AbortSignal): Promise<Contribution | Rejection>;
  resume(signal: AbortSignal): Promise<Contribution | Rejection | undefined>;
}

export async function run(
  context: DeviceContext,
  steps: RunSteps,
  trainer: RoundTrainer,
  data: Samples,
  options: RunOptions,
  signal: AbortSignal,
): Promise<RunSummary> {
  const { events, outside } = context;
  await checkTrainer(context, trainer);
  checkMetrics(context, trainer, options.metrics);
  let [accepted, refusals, pauses] = [0, 0, 0];
  /** The newest version that this run trained on, and the time that the training took. */
  let trained = { version: -1, ms: 0 };
  const endedBy = (ended: RunSummary['ended']): RunSummary => ({ accepted, rejected: refusals, ended });
  let update: Update | undefined;
  let waitsFor: string | undefined;
  while (options.rounds === undefined || accepted < options.rounds) {
    signal.throwIfAborted();
    try {
      // An interrupted contribution that is accepted now counts in this run: the device gives no other on its version.
      const resumed = await steps.resume(signal);
      const isEnd = resumed?.kind === 'accepted' || context.state.session !== undefined;
      if (update === undefined && !isEnd && (await trainer.isDone?.()) === true) return endedBy('done');
      const result = resumed !== undefined && isEnd ? resumed : await nextResult();
      if (result.kind === 'accepted') {
        [accepted, pauses, update] = [accepted + 1, 0, undefined];
        continue;
      }
      if (!WAITING.has(result.reason)) refusals++;
      if (Problems.problemOf(result.reason).retry !== true) return endedBy(result.reason);
      if (result.update === 'given' || Problems.problemOf(result.reason).freshUpdate === true) update = undefined;
      tellOfWait(result.gathering);
      if (result.reason === 'no-place' || result.reason === 'given-lately')
        await outside.sleep(result.retryAfterMs ?? FIRST_PAUSE_MS, signal);
      // Others may have been faster: with a newer version there is nothing to wait for, and without one the device waits before it trains.
      else if (result.reason !== 'version-over') await pause(result.retryAfterMs ?? 0);
    } catch (error) {
      // It may end while an upload is on its way.
      if (error instanceof ProblemError && error.code === 'task-finished') return endedBy(error.code);
      if (error instanceof RefusedError && isPassing(error.reason)) {
        refusals++;
        events.emit('rejected', rejected(error.reason, 'free', error));
        await pause(0);
      } else if (isFault(error))
        await pause(askedBy(error), error instanceof UnreachableError ? error.happened : error.message);
      else throw error;
    }
  }
  return endedBy('rounds');

  /** A device without an update asks for a place first, so that it does not train on a model that is old when it is done. */
  async function nextResult(): Promise<Contribution | Rejection> {
    if (update === undefined) {
      const not = steps.mayTrain();
      if (not !== undefined) return not;
      const place = await steps.admission(signal);
      if (place.kind === 'rejected') return place;
      const model = await steps.model(signal);
      const given = steps.given(model.version);
      if (given !== undefined) return given;
      // Without progress the device does not train again at once, whatever the reason was.
      if (model.version <= trained.version) await pause(trained.ms);
      update = await trainOnce(model);
    }
    return steps.contribute(update, signal);
  }

  async function trainOnce({ version, parameters }: FetchedModel): Promise<Update> {
    const request = { ...trainingOf(context, options.training), seed: seedOf(context), ...options.training };
    const start = outside.stopwatch();
    const result = await trainer.train({ ...request, start: parameters, samples: data });
    trained = { version: Math.max(version, trained.version), ms: outside.stopwatch() - start };
    const { delta, loss, samples } = result;
    const metrics = await metricsOf(context, trainer, { parameters, data, result, own: options.metrics });
    events.emit('trained', { version, loss, samples });
    const weight = options.exampleWeight;
    const update = { delta, trainedOn: version, metrics };
    return { ...update, ...(weight === undefined ? {} : { exampleWeight: weight }) };
  }

  /** Once, and again when the numbers change. */
  function tellOfWait(gathering: Gathering | undefined): void {
    const text = gathering && gatheringText(gathering);
    if (gathering !== undefined && text !== waitsFor) events.emit('waiting', gathering);
    waitsFor = text;
  }

  function pause(askedMs: number, why?: string): Promise<void> {
    const ceiling = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** pauses++);
    const waitMs = askedMs + uniform(outside.randomBytes) * ceiling;
    if (why !== undefined) events.emit('retry', { service: 'run', attempt: pauses, waitMs, why });
    return outside.sleep(waitMs, signal);
  }
}

/** The settings of the pinned policy. An application that sets steps does not use the policy's epochs. */
function trainingOf(
  { policy }: DeviceContext,
  own: Training | undefined,
): Omit<TrainRequest, 'start' | 'samples' | 'seed'> {
  const { epochs, batchSize, learningRate } = policy.training;
  return { batchSize, learningRate, ...(own?.steps === undefined && { epochs }) };
}

/** The policy names loss and architecture; if it does not, they are the application's own. */
async function checkTrainer({ outside, policy }: DeviceContext, trainer: RoundTrainer): Promise<void> {
  const { model, loss = TrainingRules.DEFAULT_TRAINING.loss } = trainer;
  const wanted = policy.training.loss;
  if (wanted !== 'own' && loss !== wanted)
    throw new SettingsError(
      `the task uses the loss ${wanted}, but the trainer uses ${loss}; train with the loss of the task, or create a task with the loss of the trainer`,
    );
  if (model.dimension !== policy.dimension)
    throw new SettingsError(
      `the model of the task has ${policy.dimension} parameters, but ${model.name} has ${model.dimension}; train the network that the task was created with`,
    );
  if (policy.manifestHash.every((byte) => byte === 0)) return;
  // Loaded on demand: applications that train have it loaded already, the others do not need it.
  const { manifestText } = await import('@basa/learning');
  if (!equalBytes(outside.suite.sha256(ascii(manifestText(model))), policy.manifestHash)) {
    throw new SettingsError(
      `${model.name} is not the network of the task: its tensors have other names or shapes; train the network that the task was created with`,
    );
  }
}

/** The order of examples and dropout differ from round to round; no secret depends on it. */
function seedOf({ outside }: DeviceContext): number {
  return Math.floor(uniform(outside.randomBytes) * 2 ** 32);
}
