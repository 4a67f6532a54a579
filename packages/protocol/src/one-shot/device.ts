/**
 * A device of the one-shot mode: it checks message 1 (model), trains, and makes message 2 (upload). Then it is done.
 *
 * A contribution is a coroutine, because the process may die between any two of its steps: seal a seed for each part, mask, store, send.
 * Header and body are stored together with the mark that the version is given. From then on the device has only bytes that anybody may see,
 * and sends these or none.
 */
import {
  concatBytes,
  crc32,
  equalBytes,
  type KeyResult,
  type KeyWork,
  type MaskPlan,
  packVector,
  SEED_BYTES,
  type Suite,
} from '@basa/masking';
import { isSigned } from '../wire/codec.ts';
import { type Certificate, userIdOf } from '../wire/devices.ts';
import type { JoinTag, Millis, TaskId } from '../wire/fields.ts';
import {
  type Epoch,
  epochNameOf,
  isEpochOf,
  ModelStatement,
  type ModelStatementBody,
  modelNameOf,
  type ShownModel,
} from '../wire/model.ts';
import { isHolder, type OneShotPolicy, oneShotOf, taskParts, vouchersOf } from '../wire/one-shot-policy.ts';
import { type TaskPolicy, taskIdOf } from '../wire/policy.ts';
import { declined, isRefused, type RefusalReason, type Refused, refused, unchanged } from '../wire/refusals.ts';
import { windowAt, windowStatement } from '../wire/statistics.ts';
import {
  type HeldPart,
  heldParts,
  partsHashOf,
  ShotHeader,
  type ShotHeaderBody,
  type ShotUpload,
} from '../wire/upload.ts';
import {
  budgetProblem,
  type Device,
  type DeviceStep,
  givenRecord,
  intervalProblem,
  recorded,
  type UserPorts,
  type UserSession,
  versionProblem,
} from './ledger.ts';
import { partBinding, partTerm, sealParts } from './parts.ts';

export interface ModelQuestion {
  readonly suite: Suite;
  readonly policy: TaskPolicy;
  readonly task: TaskId;
  /** By the device's own clock. */
  readonly now: Millis;
}

/** The model to train on, or the window of a statistics task by the device's own clock; and the epochs that an upload names. */
export interface Gathered {
  readonly kind: 'gathered';
  readonly statement: ModelStatementBody;
  /** At most one of each authority, by rising index. */
  readonly epochs: readonly Epoch[];
}

/**
 * Message 1: the server signed the model, and the epochs are keys to which the device may seal. The server chooses what it shows; a device
 * gives once for a serial and for none below, so an old model gains the server nothing. A task in paper mode has no epochs: only the
 * statement counts there.
 */
export function receiveModel(question: ModelQuestion, shown: ShownModel): Gathered | Refused {
  const { policy } = question;
  const statement = statementOf(question, shown);
  if (statement === undefined) return refused('model-invalid');
  if (policy.oneShot === undefined) return { kind: 'gathered', statement, epochs: [] };
  const epochs = usableEpochs(question, policy.oneShot, shown.epochs);
  return isEnough(policy, policy.oneShot, epochs)
    ? { kind: 'gathered', statement, epochs }
    : refused('epochs-missing', { detail: `usable keys of ${epochs.length} authorities` });
}

/** A statistics task has no model: whatever it is shown, the device reports for the window of its own clock. */
function statementOf(
  { suite, policy, task, now }: ModelQuestion,
  { statement }: ShownModel,
): ModelStatementBody | undefined {
  const { statistics, serverKey } = policy;
  if (statistics !== undefined) return windowStatement(task, statistics, windowAt(statistics, now));
  const isOfServer = equalBytes(statement.task, task) && isSigned(suite, ModelStatement, statement, serverKey);
  return isOfServer ? statement : undefined;
}

/** Of each authority the epoch that closes last: an old one would cost the upload. */
function usableEpochs(
  { suite, policy, task, now }: ModelQuestion,
  { epochMs }: OneShotPolicy,
  shown: readonly Epoch[],
): readonly Epoch[] {
  const good = shown.filter((epoch) => equalBytes(epoch.task, task) && isEpochOf(suite, policy, epoch));
  return [...policy.authorities.keys()].flatMap((authority): readonly Epoch[] => {
    const [last] = good.filter((epoch) => epoch.authority === authority).sort((a, b) => b.closes - a.closes);
    return last !== undefined && last.closes > now && last.closes <= now + 2 * epochMs ? [last] : [];
  });
}

/** At least t authorities, and in every part as many holders as must vouch for its sum. */
function isEnough(policy: TaskPolicy, oneShot: OneShotPolicy, epochs: readonly Epoch[]): boolean {
  if (epochs.length < policy.threshold) return false;
  return taskParts(policy).every(
    (part) => epochs.filter(({ authority }) => isHolder(part, authority)).length >= vouchersOf(oneShot),
  );
}

/** The update, its target and its user. */
export interface ShotStart {
  readonly policy: TaskPolicy;
  readonly certificate: Certificate;
  /** The model that the update was trained on; in a statistics task, the window of the report. */
  readonly statement: ModelStatementBody;
  /** From `receiveModel`. */
  readonly epochs: readonly Epoch[];
  /** By the device's own clock. */
  readonly now: Millis;
}

/** Message 2: makes an upload, stores it and sends it. */
export function* giveShot(ports: UserPorts, device: Device, start: ShotStart): Steps<ContributeEnd> {
  const problem = givenProblem(device, start);
  if (problem !== undefined) return { kind: 'left', reason: problem.reason };
  const { upload, body } = yield* madeShot(ports, start);
  const step = keepUpload(ports, device, start, upload);
  yield* ask('durable', { step, body });
  return yield* sendShot(ports, step.state, { body, isResumed: false });
}

/** Sends the stored bytes of a session after a crash. They are given up if every epoch that they name has closed, or if the disk lost them. */
export function* resumeShot(ports: UserPorts, device: Device, now: Millis): Steps<ContributeEnd> {
  const { upload, closes } = sessionOf(device);
  if (now >= closes) return { kind: 'refused', reason: 'epoch-over' };
  const body = yield* ask('body', {});
  const checksum = ports.crc32 ?? crc32;
  if (body?.length !== upload.bodyBytes || checksum(body) !== upload.bodyCrc)
    return { kind: 'refused', reason: 'body-mismatch' };
  return yield* sendShot(ports, device, { body, isResumed: true });
}

function sessionOf({ session }: Device): UserSession {
  if (session?.step !== 'shot') throw new Error(`a session does not end from step ${session?.step}`);
  return session;
}

function* sendShot(
  ports: UserPorts,
  device: Device,
  sent: { readonly body: Uint8Array; readonly isResumed: boolean },
): Steps<ContributeEnd> {
  const answer = yield* ask('shot', { upload: sessionOf(device).upload, ...sent });
  if (isRefused(answer)) return { kind: 'refused', reason: answer.reason };
  yield* ask('durable', { step: acknowledgeUpload(ports, device) });
  return { kind: 'acknowledged' };
}

interface MadeShot {
  readonly upload: ShotUpload;
  readonly body: Uint8Array;
}

function* madeShot(ports: UserPorts, start: ShotStart): Steps<MadeShot> {
  const { suite, randomBytes } = ports;
  const { policy, certificate, statement } = start;
  const name = {
    task: taskIdOf(suite, policy),
    joinTag: randomBytes(16) as JoinTag,
    user: userIdOf(suite, certificate.deviceKey),
  };
  const epochs = start.epochs.map((epoch) => epochNameOf(suite, epoch));
  const held = heldParts(policy, epochs);
  const seeds = held.map(() => randomBytes(SEED_BYTES));
  try {
    const toSeal = held.map((part, n) => ({
      seed: seeds[n] as Uint8Array,
      binding: partBinding(suite, name, part, start.epochs),
    }));
    const sealed = concatBytes(...(yield* keysAsked(sealParts(suite, oneShotOf(policy).sealing, toSeal))));
    const unsigned: ShotHeaderBody = {
      ...name,
      model: modelNameOf(suite, statement),
      epochs,
      partsHash: partsHashOf(suite, held, sealed) as Uint8Array,
    };
    const signature = yield* ask('sign', { statement: ShotHeader.statement(unsigned) });
    const body = concatBytes(yield* masked(ports, { header: unsigned, policy, held, seeds }), sealed);
    const bodyCrc = (ports.crc32 ?? crc32)(body);
    return { upload: { certificate, header: { ...unsigned, signature }, bodyBytes: body.length, bodyCrc }, body };
  } finally {
    for (const seed of seeds) seed.fill(0); // also if the driver gives up in between
  }
}

interface ToMask {
  readonly header: ShotHeaderBody;
  readonly policy: TaskPolicy;
  readonly held: readonly HeldPart[];
  readonly seeds: readonly Uint8Array[];
}

/** y = x' + sum over the parts of PRG(s_A), packed. y takes the place of x'. */
function* masked(ports: UserPorts, { header, policy, held, seeds }: ToMask): Steps<Uint8Array> {
  const { suite, kernel } = ports;
  const terms = held.map(({ part }, n) => partTerm(suite, header, part, (seeds[n] as Uint8Array).slice(), 1));
  const plan: MaskPlan = { modulus: policy.modulus, salt: header.joinTag, terms };
  const vector = yield* ask('input', {});
  try {
    yield* ask('mask', { masking: { kind: 'masking', vector, plan } });
  } finally {
    for (const { seed } of terms) seed.wipe();
  }
  return packVector(vector, policy.modulus, kernel);
}

function givenProblem({ ledger }: Device, { policy, statement, now }: ShotStart): Refused | undefined {
  const spent = budgetProblem(ledger, policy);
  return spent ?? versionProblem(ledger, statement) ?? intervalProblem(ledger, policy, now);
}

/** The ledger marks the model as given in the same step. */
function keepUpload(
  { suite }: UserPorts,
  device: Device,
  { statement, epochs, now }: ShotStart,
  upload: ShotUpload,
): DeviceStep<{ readonly kind: 'kept' }> {
  const { version } = statement;
  const closes = Math.max(...epochs.map((epoch) => epoch.closes)) as Millis;
  const records = [{ kind: 'shot' as const, upload, version, closes }, givenRecord(device.ledger, statement, now)];
  return recorded(suite, device, records, { kind: 'kept' }) as DeviceStep<{ readonly kind: 'kept' }>;
}

function* keysAsked<Result>(steps: Generator<readonly KeyWork[], Result, readonly KeyResult[]>): Steps<Result> {
  let next = steps.next();
  while (next.done !== true) next = steps.next(yield* ask('keys', { work: next.value }));
  return next.value;
}

/** The server has the bytes, durably. */
function acknowledgeUpload(
  { suite }: Pick<UserPorts, 'suite'>,
  device: Device,
): DeviceStep<{ readonly kind: 'acknowledged' }> {
  const step = device.session?.step;
  if (step === 'acknowledged') return unchanged(device, { kind: 'acknowledged' });
  if (step !== 'shot') return declined(device, refused('wrong-step'));
  return recorded(suite, device, [{ kind: 'acknowledged' }], { kind: 'acknowledged' });
}

/** The work of a kernel: the plan, applied to the vector in place, turns x' into y. */
export interface Masking {
  readonly kind: 'masking';
  readonly vector: Uint32Array;
  readonly plan: MaskPlan;
}

/**
 * The requests of a contribution to its driver, each with its answer. The driver answers them synchronously or asynchronously; if it cannot,
 * it drops the coroutine and starts a new one later, which continues from the device's records.
 */
interface Requests {
  /** With the device's key, for the message that follows. */
  sign: { readonly asked: { readonly statement: Uint8Array }; readonly answer: Uint8Array };
  /** Stores all records of the step and the body of the upload, or nothing, before anything else happens. */
  durable: {
    readonly asked: { readonly step: DeviceStep<object>; readonly body?: Uint8Array };
    readonly answer: undefined;
  };
  /** The stored body. */
  body: { readonly asked: object; readonly answer: Uint8Array | undefined };
  /** Agreements on keys, one result for each work. */
  keys: { readonly asked: { readonly work: readonly KeyWork[] }; readonly answer: readonly KeyResult[] };
  /** x'. It is masked in place. */
  input: { readonly asked: object; readonly answer: Uint32Array };
  /** The plan, applied to the vector in place. */
  mask: { readonly asked: { readonly masking: Masking }; readonly answer: undefined };
  /** The only message to the server; `isResumed` if bytes of it may have left before. */
  shot: {
    readonly asked: { readonly upload: ShotUpload; readonly body: Uint8Array; readonly isResumed: boolean };
    readonly answer: { readonly kind: 'accepted' } | Refused;
  };
}

export type ContributeRequest = {
  [Kind in keyof Requests]: { readonly kind: Kind } & Requests[Kind]['asked'];
}[keyof Requests];

export type ContributeAnswer = Requests[keyof Requests]['answer'];

/**
 * `left`: nothing of the update was given. `refused`: bytes that were given are not sent any more, so the device trains on a newer model.
 */
export type ContributeEnd =
  | { readonly kind: 'acknowledged' }
  | { readonly kind: 'left'; readonly reason: RefusalReason }
  | { readonly kind: 'refused'; readonly reason: RefusalReason };

export type Steps<End> = Generator<ContributeRequest, End, ContributeAnswer>;

function* ask<Kind extends keyof Requests>(
  kind: Kind,
  asked: Requests[Kind]['asked'],
): Steps<Requests[Kind]['answer']> {
  // The driver pairs them: an answer of another kind is its fault.
  return (yield { kind, ...asked } as ContributeRequest) as Requests[Kind]['answer'];
}

/** X25519 of the platform, which may answer synchronously. */
export interface AsyncX25519 {
  /** The key object of 32 secret bytes, which are copied. */
  key(secretKey: Uint8Array): Promise<AsyncX25519Key> | AsyncX25519Key;
}

interface AsyncX25519Key {
  readonly publicKey: Uint8Array;
  /** Undefined if the peer's key is malformed or of small order. */
  agree(publicKey: Uint8Array): Promise<Uint8Array | undefined> | Uint8Array | undefined;
}

/** One result for each work. */
export function agreeOnKeys(curve: AsyncX25519, work: readonly KeyWork[]): Promise<readonly KeyResult[]> {
  return Promise.all(
    work.map(async ({ secret, peers }) => {
      const key = await curve.key(secret);
      return { publicKey: key.publicKey, shared: await Promise.all(peers.map((peer) => key.agree(peer))) };
    }),
  );
}
