/** Offers an update: finishes an interrupted session first, and gives one update for each version. */
import { isRefused } from '@basa/protocol';
import { type BuiltInput, buildInput, Ledger } from '@basa/protocol/one-shot';
import { Training } from '@basa/protocol/policy';
import { InputWords } from '@basa/protocol/wire';
import { RefusedError, SettingsError } from '../errors.ts';
import { type DeviceContext, withCertificate } from './context.ts';
import { type Contribution, Meter, type Rejection, rejected } from './results.ts';
import { finishSession, type NewShot } from './send.ts';

/** An update to offer. */
export interface Update {
  readonly delta: Float32Array;
  /** The version of the model it was trained on. */
  readonly trainedOn: number;
  /** In (0, 1]: its weight besides its staleness; 1 by default, and always in a task with noise. */
  readonly exampleWeight?: number;
  /** A number for each metric that the task names; it is clipped to its range, and only the mean is learned. */
  readonly metrics?: Readonly<Record<string, number>>;
}

/** The advice for an update on a version that this process was not shown. */
function notSeen(version: number): string {
  return `this device has not fetched version ${version} recently; fetch the newest version with model() and train on it`;
}

/** Clipped, weighted and rounded by the rules of the sum, with the device's noise; reports the norm that it had. */
function quantised(context: DeviceContext, rules: InputWords.SumRules, update: Update): BuiltInput {
  const randomWords = (words: Uint32Array): void => fillWords(context, words);
  const built = buildInput(rules, { ...update, randomWords });
  if (built.kind === 'refused') return built;
  context.events.emit('quantized', { norm: built.norm, clip: rules.clip });
  return built;
}

/** 64 KiB, the most that a browser draws at a time: the words of a long vector need no second vector. */
const WORDS_AT_ONCE = 16_384;

export function fillWords({ outside }: DeviceContext, words: Uint32Array): void {
  for (let start = 0; start < words.length; start += WORDS_AT_ONCE) {
    const some = words.subarray(start, start + WORDS_AT_ONCE);
    const bytes = outside.randomBytes(some.byteLength);
    new Uint8Array(some.buffer, some.byteOffset, some.byteLength).set(bytes);
    bytes.fill(0);
  }
}

/** Undefined if the task is not private. */
export function spentBy({ policy, state }: DeviceContext): Ledger.PrivacySpent | undefined {
  return Ledger.privacySpent(state.ledger, policy);
}

/** Before a device trains: returns the reason why it must not, or undefined. */
function budgetRejection({ policy, state }: DeviceContext): Rejection | undefined {
  const problem = Ledger.budgetProblem(state.ledger, policy);
  return problem && rejected(problem.reason, 'free', problem);
}

/** Reports a charge: the budget spent before, and now. */
function tellSpent(context: DeviceContext): void {
  const spent = spentBy(context);
  if (spent !== undefined) context.events.emit('privacy', spent);
}

export async function contribute(
  context: DeviceContext,
  update: Update,
  signal: AbortSignal,
): Promise<Contribution | Rejection> {
  checkUpdate(context, update);
  checkTrains(context);
  // A copy: the caller may change its array while this waits for a service.
  const delta = update.delta.slice();
  try {
    return await contributeCopy(context, { ...update, delta }, signal);
  } finally {
    delta.fill(0);
  }
}

function contributeCopy(
  context: DeviceContext,
  update: Update,
  signal: AbortSignal,
): Promise<Contribution | Rejection> {
  return offer(context, update.trainedOn, signal, {
    rejection: () => trainingRejection(context) ?? versionRejection(context, update.trainedOn),
    give: (meter) => shoot(context, update, meter, signal),
  });
}

interface Offered {
  /** The reason why nothing may be given now. */
  rejection(): Rejection | undefined;
  give(meter: Meter): Promise<Contribution | Rejection>;
}

/** Finishes an interrupted session first. `version` is that of the model, or the number of the window. */
export async function offer(
  context: DeviceContext,
  version: number,
  signal: AbortSignal,
  { rejection, give }: Offered,
): Promise<Contribution | Rejection> {
  const pending = context.state.session;
  if (pending !== undefined) {
    const ended = await resume(context, signal);
    // The update of this version was given, and it counts; the same call after an interruption offers it again.
    if (ended?.kind === 'accepted' && pending.version === version) return ended;
    if (ended !== undefined && context.state.session !== undefined) return ended; // the server takes it later
  }
  return told(context, rejection() ?? (await give(newMeter(context))));
}

/** Continues an interrupted session with the same bytes. Undefined if there is no session. */
export async function resume(
  context: DeviceContext,
  signal: AbortSignal,
): Promise<Contribution | Rejection | undefined> {
  if (context.state.session === undefined) return undefined;
  return told(context, await finishSession(context, newMeter(context), signal));
}

/** Before a device trains: its privacy budget is spent, or it gave a moment ago. */
export function trainingRejection(context: DeviceContext): Rejection | undefined {
  const { outside, policy, state } = context;
  const now = outside.now();
  const early = Ledger.intervalProblem(state.ledger, policy, now);
  return (
    budgetRejection(context) ??
    (early && rejected(early.reason, 'free', { ...early, retryAfterMs: Ledger.restMs(state.ledger, policy, now) }))
  );
}

/** Returns the reason why no update may be given on this version: the device gave one on it, or on a newer one. */
export function versionRejection({ models, state }: DeviceContext, version: number): Rejection | undefined {
  const statement = models.statementOf(version);
  const problem = statement && Ledger.versionProblem(state.ledger, statement);
  return problem && rejected(problem.reason, 'free', problem);
}

/** A device takes part in the mode of the paper only if its application calls it by its name, and nobody trains for statistics. */
export function checkTrains({ policy }: Pick<DeviceContext, 'policy'>): void {
  if (policy.oneShot === undefined) throw new RefusedError('paper-mode');
  if (policy.statistics !== undefined) throw new SettingsError('this task has no model to train; call report()');
}

/** Errors of the caller. None of them depends on the numbers of an update. */
function checkUpdate({ policy }: DeviceContext, { exampleWeight = 1, metrics = {}, trainedOn }: Update): void {
  const missing = policy.metrics.filter(({ name }) => name !== Training.CLIPPED.name && !Object.hasOwn(metrics, name));
  if (missing.length > 0)
    throw new RangeError(`metrics must have a number for ${missing.map(({ name }) => name).join(', ')}`);
  if (!Number.isSafeInteger(trainedOn) || trainedOn < 0) {
    throw new RangeError(`trainedOn must be the version that model() returned, got ${trainedOn}`);
  }
  if (!(exampleWeight > 0 && exampleWeight <= 1)) {
    throw new RangeError(`exampleWeight must be in (0, 1], got ${exampleWeight}`);
  }
}

function newMeter({ authorities, outside, server }: DeviceContext): Meter {
  return new Meter(
    outside.stopwatch,
    [server, ...authorities].map(({ link }) => link),
  );
}

function told<Result extends Contribution | Rejection>(context: DeviceContext, result: Result): Result {
  const { events } = context;
  if (result.kind === 'accepted') events.emit('accepted', result);
  else events.emit('rejected', result);
  tellSpent(context);
  return result;
}

async function shoot(
  context: DeviceContext,
  update: Update,
  meter: Meter,
  signal: AbortSignal,
): Promise<Contribution | Rejection> {
  const { models, outside } = context;
  // Before any other request: the time of a training depends on its data.
  const waitMs = models.waitMs(update.trainedOn);
  if (waitMs > 0) await outside.sleep(waitMs, signal);
  return give(context, meter, signal, () => prepare(context, update, signal));
}

/** Prepares a shot, and sends it unless that was not possible. */
export async function give(
  context: DeviceContext,
  meter: Meter,
  signal: AbortSignal,
  prepared: () => Promise<NewShot | Rejection>,
): Promise<Contribution | Rejection> {
  context.events.emit('progress', { step: 'mask' });
  const shot = await meter.measure('mask', prepared);
  return 'given' in shot ? await finishSession(context, meter, signal, shot) : shot;
}

/** Nothing is given away yet: any problem leaves the update free. */
function prepare(context: DeviceContext, update: Update, signal: AbortSignal): Promise<NewShot | Rejection> {
  const { models, outside, policy } = context;
  const { trainedOn } = update;
  return withCertificate(context, signal, async (certificate): Promise<NewShot | Rejection> => {
    const gathered = await models.fresh(signal);
    if (isRefused(gathered)) return rejected(gathered.reason, 'free', gathered);
    if (gathered.statement.version - trainedOn > policy.maxStaleness) return rejected('version-over', 'free');
    const statement = models.statementOf(trainedOn);
    if (statement === undefined) return rejected('model-unknown', 'free', { detail: notSeen(trainedOn) });
    const built = quantised(context, InputWords.sumRules(policy, statement.version), update);
    if (built.kind === 'refused') return rejected(built.reason, 'free', built);
    const given = { policy, certificate, statement, epochs: gathered.epochs, now: outside.now() };
    return { given, input: built.vector };
  });
}
