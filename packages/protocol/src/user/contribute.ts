/**
 * A contribution from the deposit to the acknowledgement, as a coroutine. It requests signatures, durable records and messages, and its
 * driver answers synchronously or asynchronously. It continues from the device's records, so a crash makes no difference. A driver that
 * cannot answer drops the coroutine and starts a new one later.
 */
import { equalBytes, type KeyResult, type KeyWork } from '@basa/masking';
import type { KeyRequest, UploadHeader } from '../wire/authority-messages.ts';
import type { ShotUpload } from '../wire/one-shot/upload.ts';
import { isRefused, type RefusalReason, type Refused } from '../wire/refusals.ts';
import type { SealingResult, SealingSteps, SealingWork } from '../wire/sealing-work.ts';
import { bodyHashOf, bodyOf } from '../wire/upload-layout.ts';
import type { Deposit, DepositAnswer } from '../wire/user-messages.ts';
import { depositMessage, depositToSign } from './deposit.ts';
import type { Device, DeviceStep } from './device.ts';
import { type KeyAnswerOf, keySteps } from './key.ts';
import type { FrozenSession, SlottedSession, UserPorts } from './session.ts';
import { abandonSession, keyRequestMessage, keyRequestToSign, receiveSlot } from './slot.ts';
import {
  acknowledgeUpload,
  freezeUpload,
  headerToSign,
  type Masking,
  maskInput,
  packMasked,
  uploadHeaderMessage,
} from './upload.ts';

/** The requests to the driver, each with its answer. */
interface Requests {
  /** With the device's key, for the message that follows. */
  sign: { readonly asked: { readonly statement: Uint8Array; readonly of: Sent }; readonly answer: Uint8Array };
  /** Stores all records of the step or no record, before anything else happens. */
  durable: { readonly asked: { readonly step: DeviceStep<object> }; readonly answer: undefined };
  /** To the server. */
  deposit: { readonly asked: { readonly message: Deposit }; readonly answer: DepositAnswer | Refused };
  /** To every authority with a part in the buffer: the answers of as many as are needed. */
  key: { readonly asked: { readonly message: KeyRequest }; readonly answer: readonly KeyAnswerOf[] | Refused };
  /** Seeds to seal or to open. */
  sealing: { readonly asked: { readonly work: SealingWork }; readonly answer: SealingResult };
  /** One-shot: agreements on keys, one result for each work. */
  keys: { readonly asked: { readonly work: readonly KeyWork[] }; readonly answer: readonly KeyResult[] };
  /** x', as it was fixed before the deposit. It is copied. */
  input: { readonly asked: object; readonly answer: Uint32Array };
  /** The plan, applied to the vector in place. */
  mask: { readonly asked: { readonly masking: Masking }; readonly answer: undefined };
  /** To the server; `isResumed` if bytes of it may have left before. */
  upload: {
    readonly asked: { readonly header: UploadHeader; readonly body: Uint8Array; readonly isResumed: boolean };
    readonly answer: { readonly kind: 'accepted' } | Refused;
  };
  /** One-shot: the only message to the server. */
  shot: {
    readonly asked: { readonly upload: ShotUpload; readonly body: Uint8Array; readonly isResumed: boolean };
    readonly answer: { readonly kind: 'accepted' } | Refused;
  };
}

type Sent = 'deposit' | 'key' | 'upload';

export type ContributeRequest = {
  [Kind in keyof Requests]: { readonly kind: Kind } & Requests[Kind]['asked'];
}[keyof Requests];

export type ContributeAnswer = Requests[keyof Requests]['answer'];

/**
 * `left`: the device has left the buffer for good and gave nothing of the update away. `held`: the server refused bytes that were already
 * offered, so only the authority's outcome frees the update. `damaged`: the stored state is not the state that the device wrote.
 */
export type ContributeEnd =
  | { readonly kind: 'acknowledged' }
  | { readonly kind: 'left'; readonly reason: RefusalReason }
  | { readonly kind: 'held'; readonly reason: RefusalReason }
  | { readonly kind: 'damaged'; readonly problem: string };

export type Steps<End> = Generator<ContributeRequest, End, ContributeAnswer>;

/** Starts from a session that is prepared, slotted or frozen. */
export function* contributeSteps(ports: UserPorts, start: Device): Steps<ContributeEnd> {
  let device = start;
  if (device.session?.step === 'prepared') {
    const statement = depositToSign(device.session).statement;
    const message = depositMessage(device.session, yield* ask('sign', { statement, of: 'deposit' }));
    const answer = yield* ask('deposit', { message });
    if (isRefused(answer)) return yield* leave(ports, device, answer.reason);
    const step = receiveSlot(ports, device, answer);
    yield* ask('durable', { step });
    if (isRefused(step.answer)) return { kind: 'left', reason: step.answer.reason };
    device = step.state;
  }
  let body: Uint8Array | undefined;
  if (device.session?.step === 'slotted') {
    const frozen = yield* freezeSteps(ports, device, device.session);
    if ('reason' in frozen) return yield* leave(ports, device, frozen.reason);
    ({ device, body } = frozen);
  }
  const { session } = device;
  if (session?.step !== 'frozen') throw new Error(`a session does not end from step ${session?.step}`);
  const isResumed = body === undefined;
  const whole = body ?? (yield* bodyAgain(ports, session));
  if ('problem' in whole) return { kind: 'damaged', problem: whole.problem };
  const signature = yield* ask('sign', { statement: headerToSign(session).statement, of: 'upload' });
  const answer = yield* ask('upload', { header: uploadHeaderMessage(session, signature), body: whole, isResumed });
  if (isRefused(answer)) return { kind: 'held', reason: answer.reason };
  yield* ask('durable', { step: acknowledgeUpload(ports, device) });
  return { kind: 'acknowledged' };
}

/** The key of the slot opens the seeds that earlier users sealed to it; then the input is masked and the upload frozen. */
function* freezeSteps(
  ports: UserPorts,
  device: Device,
  session: SlottedSession,
): Steps<{ readonly device: Device; readonly body: Uint8Array } | Refused> {
  const signature = yield* ask('sign', { statement: keyRequestToSign(session).statement, of: 'key' });
  const answer = yield* ask('key', { message: keyRequestMessage(session, signature) });
  const draft = isRefused(answer) ? answer : yield* sealed(keySteps(ports, session, answer));
  if (draft.kind === 'refused') return draft;
  const masking = maskInput(ports, session, yield* ask('input', {}), draft);
  if (masking.kind === 'refused') return masking;
  yield* ask('mask', { masking });
  const masked = packMasked(ports, session, masking.vector);
  const step = freezeUpload(ports, device, draft, masked);
  if (isRefused(step.answer)) return step.answer;
  yield* ask('durable', { step });
  for (const seed of [draft.self, ...draft.earlier]) seed.wipe();
  return { device: step.state, body: bodyOf(masked, draft.parts) };
}

function* sealed<Result>(steps: SealingSteps<Result>): Steps<Result> {
  let next = steps.next();
  while (next.done !== true) next = steps.next(yield* ask('sealing', { work: next.value }));
  return next.value;
}

/** Makes the body of a frozen upload again. It has the same bytes, or the function fails. */
function* bodyAgain(ports: UserPorts, session: FrozenSession): Steps<Uint8Array | { readonly problem: string }> {
  const masking = maskInput(ports, session, yield* ask('input', {}));
  if (masking.kind === 'refused') return { problem: 'the store holds another input than the one that was fixed' };
  yield* ask('mask', { masking });
  const masked = packMasked(ports, session, masking.vector);
  if (!equalBytes(bodyHashOf(ports.suite, masked, session.parts), session.header.bodyHash)) {
    return { problem: 'the upload does not come out as it was frozen; the store is damaged' };
  }
  return bodyOf(masked, session.parts);
}

function* leave(ports: UserPorts, device: Device, reason: RefusalReason): Steps<ContributeEnd> {
  yield* ask('durable', { step: abandonSession(ports, device, reason) });
  return { kind: 'left', reason };
}

export function* ask<Kind extends keyof Requests>(
  kind: Kind,
  asked: Requests[Kind]['asked'],
): Steps<Requests[Kind]['answer']> {
  // The driver pairs them: an answer of another kind is its fault.
  return (yield { kind, ...asked } as ContributeRequest) as Requests[Kind]['answer'];
}
