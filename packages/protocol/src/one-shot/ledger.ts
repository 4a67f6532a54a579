/** What a device keeps: the ledger of what it gave, and the upload under way as stored bytes. */
import { type Crc32, equalBytes, type RandomBytes, type Suite, type VectorKernel } from '@basa/masking';
import { type Codec, message, nested, recordUnion } from '../wire/codec.ts';
import { type Ctx, field, KIND, type Millis, type TaskId, u53 } from '../wire/fields.ts';
import type { ModelStatementBody } from '../wire/model.ts';
import type { TaskPolicy } from '../wire/policy.ts';
import { epsilonAfter, type NoisyTask, type PrivacyPolicy, participationsOf } from '../wire/privacy.ts';
import type { BasaEvent, Transition } from '../wire/refusals.ts';
import { type Refused, refused } from '../wire/refusals.ts';
import { SHOT_UPLOAD_BYTES, ShotUpload, uploadNameOf } from '../wire/upload.ts';

/** The uploads that the device gave, whatever became of them. */
interface GivenUploads {
  /** The highest serial of the models that they were trained on. */
  readonly serial: number;
  readonly uploads: number;
  /** When the last one was given, by the device's own clock. */
  readonly at: Millis;
  /** The task and the parameters of the model with this serial. */
  readonly task: TaskId;
  readonly model: Uint8Array;
}

export interface DeviceLedger {
  /** Undefined before the first upload. */
  readonly given: GivenUploads | undefined;
}

export type LedgerRecord = { readonly kind: 'given' } & GivenUploads;

export const EMPTY_LEDGER: DeviceLedger = { given: undefined };

/** The ledger after these records. */
function restoreLedger(records: readonly LedgerRecord[], ledger: DeviceLedger = EMPTY_LEDGER): DeviceLedger {
  return records.reduce<DeviceLedger>((_, { kind: __, ...given }) => ({ given }), ledger);
}

/** The record that one more upload is given. */
export function givenRecord(
  { given }: DeviceLedger,
  { task, serial, modelHash }: ModelStatementBody,
  at: Millis,
): LedgerRecord {
  return { kind: 'given', serial, uploads: (given?.uploads ?? 0) + 1, at, task, model: modelHash };
}

/**
 * A device gives once for a serial, whatever becomes of the update, and never for one below. Training is nearly deterministic: sums over
 * overlapping groups of devices on the same model would reveal single updates by subtraction (attack P1). The first model of a task that
 * succeeds another one is often the last one of that.
 */
export function versionProblem(
  { given }: DeviceLedger,
  { task, serial, modelHash }: Omit<ModelStatementBody, 'version'>,
): Refused | undefined {
  if (given === undefined) return undefined;
  const isOfPredecessor = !equalBytes(task, given.task) && equalBytes(modelHash, given.model);
  return serial <= given.serial || isOfPredecessor ? refused('version-given') : undefined;
}

/** The time for which a device still gives nothing, because it gave a moment ago. A clock that was set back does not make it longer. */
export function restMs({ given }: DeviceLedger, { oneShot }: Pick<TaskPolicy, 'oneShot'>, now: Millis): number {
  if (given === undefined || oneShot === undefined || now < given.at) return 0;
  return Math.max(0, given.at + oneShot.minIntervalMs - now);
}

export function intervalProblem(
  ledger: DeviceLedger,
  policy: Pick<TaskPolicy, 'oneShot'>,
  now: Millis,
): Refused | undefined {
  const ms = restMs(ledger, policy, now);
  return ms === 0 ? undefined : refused('given-lately', { detail: `${Math.ceil(ms / 1000)} s are left` });
}

/**
 * The part of a private task's budget that a device has spent: each upload that it gave, whatever became of it. The mark is durable before
 * the header leaves, so the count is never too low, and a crash between mark and header counts at most one upload too much.
 */
export interface PrivacySpent {
  readonly inclusions: number;
  readonly participations: number;
  readonly epsilon: number;
  readonly epsilonBudget: number;
  readonly delta: number;
}

/** Undefined if the task is not private. */
export function privacySpent(
  { given }: DeviceLedger,
  { privacy, metrics }: { readonly privacy: PrivacyPolicy | undefined; readonly metrics: readonly unknown[] },
): PrivacySpent | undefined {
  if (privacy?.budget === undefined) return undefined;
  const { delta, participations } = privacy.budget;
  const inclusions = given?.uploads ?? 0;
  const after = (count: number) => epsilonAfter({ privacy, metrics }, { delta, participations: count });
  return { inclusions, participations, epsilon: after(inclusions), epsilonBudget: after(participations), delta };
}

/** Checks that one more update may be given. */
export function budgetProblem(
  { given }: DeviceLedger,
  policy: Pick<NoisyTask, 'privacy' | 'statistics'>,
): Refused | undefined {
  const [uploads, most] = [given?.uploads ?? 0, participationsOf(policy)];
  if (most === undefined || uploads < most) return undefined;
  return refused('budget-spent', { detail: `${uploads} of ${most} inclusions` });
}

/** The outside of a device. */
export interface UserPorts {
  readonly suite: Suite;
  readonly randomBytes: RandomBytes;
  /** Packs the upload; without it, a loop in TypeScript does. */
  readonly kernel?: VectorKernel | undefined;
  /** Of the runtime, if it has one. */
  readonly crc32?: Crc32 | undefined;
}

/**
 * One upload of a device. It is stored before a byte of it leaves; after a crash the device sends the stored bytes or none. Holds no secret:
 * its bytes are those that the server gets.
 */
export interface UserSession {
  readonly step: 'shot' | 'acknowledged';
  /** The hash of its header. */
  readonly name: Ctx;
  readonly upload: ShotUpload;
  /** The version that the update was trained on. */
  readonly version: number;
  /** When every epoch that it names has closed, by the device's clock. */
  readonly closes: Millis;
}

export type UserRecord =
  /** Stored with the body. After this, only these bytes are ever sent. */
  ({ readonly kind: 'shot' } & Pick<UserSession, 'upload' | 'version' | 'closes'>) | { readonly kind: 'acknowledged' };

/** The session after one more record; undefined before the first. */
function evolveSession(suite: Suite, session: UserSession | undefined, entry: UserRecord): UserSession {
  if (entry.kind === 'shot') {
    const { upload, version, closes } = entry;
    return { step: 'shot', name: uploadNameOf(suite, upload.header), upload, version, closes };
  }
  if (session === undefined) throw new Error(`a session does not start with "${entry.kind}"`);
  return { ...session, step: 'acknowledged' };
}

/**
 * A device: its permanent ledger and its current session. A step reads both and returns records, and only records change them. The records
 * of one step become durable together.
 */
export interface Device {
  readonly ledger: DeviceLedger;
  readonly session: UserSession | undefined;
}

export type DeviceRecord = UserRecord | LedgerRecord;

export type DeviceStep<Answer> = Transition<Device, DeviceRecord, Answer>;

const NEW_DEVICE: Device = { ledger: EMPTY_LEDGER, session: undefined };

const LEDGER_KINDS: readonly string[] = ['given'];

/** The ledger outlives the session: its records are kept when those of the session are discarded. */
export function isLedgerRecord(entry: DeviceRecord): entry is LedgerRecord {
  return LEDGER_KINDS.includes(entry.kind);
}

export function isSessionRecord(entry: DeviceRecord): entry is UserRecord {
  return !isLedgerRecord(entry);
}

/** The device after these records. */
export function restoreDevice(suite: Suite, records: readonly DeviceRecord[], device: Device = NEW_DEVICE): Device {
  const evolve = (before: UserSession | undefined, entry: UserRecord) => evolveSession(suite, before, entry);
  return {
    ledger: restoreLedger(records.filter(isLedgerRecord), device.ledger),
    session: records.filter(isSessionRecord).reduce(evolve, device.session),
  };
}

/** A step that writes these records. */
export function recorded<Answer>(
  suite: Suite,
  device: Device,
  records: readonly DeviceRecord[],
  answer: Answer | Refused,
  events: readonly BasaEvent[] = [],
): DeviceStep<Answer> {
  return { state: restoreDevice(suite, records, device), records, answer, events };
}

/** The records of a device's session and ledger, as bytes. None of them is a secret. */
export const DeviceRecord: Codec<DeviceRecord> = recordUnion('device record', {
  shot: message(KIND.sessionShot, 'shot', {
    upload: nested(ShotUpload, SHOT_UPLOAD_BYTES),
    version: u53,
    closes: field.millis,
  }),
  acknowledged: message(KIND.sessionAcknowledged, 'acknowledged', {}),
  given: message(KIND.ledgerGiven, 'given', {
    serial: u53,
    uploads: u53,
    at: field.millis,
    task: field.task,
    model: field.hash,
  }),
});
