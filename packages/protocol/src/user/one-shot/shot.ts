/**
 * A contribution of the one-shot mode as coroutines: seal a seed for each part, mask, store, send. Header and body are stored together with
 * the mark that the version is given. From then on the device has only bytes that anybody may see, and sends these or none.
 */
import { concatBytes, crc32, type KeyResult, type KeyWork, type MaskPlan, packVector, SEED_BYTES } from '@basa/masking';
import type { JoinTag, Millis } from '../../wire/brands.ts';
import { type Certificate, userIdOf } from '../../wire/certificate.ts';
import { type ModelStatementBody, modelNameOf } from '../../wire/model.ts';
import { type Epoch, epochNameOf } from '../../wire/one-shot/epoch.ts';
import { partBinding, partTerm, sealParts } from '../../wire/one-shot/part-sealing.ts';
import { oneShotOf } from '../../wire/one-shot/parts.ts';
import {
  type HeldPart,
  heldParts,
  partsHashOf,
  type ShotHeaderBody,
  type ShotUpload,
  shotHeaderCodec,
} from '../../wire/one-shot/upload.ts';
import { type TaskPolicy, taskIdOf } from '../../wire/policy.ts';
import { isRefused, type Refused, refused } from '../../wire/refusals.ts';
import { declined, unchanged } from '../../wire/transition.ts';
import { budgetProblem } from '../budget.ts';
import { type Device, type DeviceStep, recorded } from '../device.ts';
import { givenRecord, intervalProblem, versionProblem } from '../ledger.ts';
import { ask, type ContributeEnd, type Steps } from '../requests.ts';
import type { UserPorts, UserSession } from '../session.ts';

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

/** Makes an upload, stores it and sends it. */
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
  const signature = yield* ask('sign', { statement: shotHeaderCodec.statement(unsigned) });
  const body = concatBytes(yield* masked(ports, { header: unsigned, policy, held, seeds }), sealed);
  for (const seed of seeds) seed.fill(0);
  const bodyCrc = (ports.crc32 ?? crc32)(body);
  return { upload: { certificate, header: { ...unsigned, signature }, bodyBytes: body.length, bodyCrc }, body };
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
  yield* ask('mask', { masking: { kind: 'masking', vector, plan } });
  for (const { seed } of terms) seed.wipe();
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
