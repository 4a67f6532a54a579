/**
 * A contribution from the deposit to the acknowledgement, as a coroutine. It requests signatures, durable records and messages, and its
 * driver answers synchronously or asynchronously. It continues from the device's records, so a crash makes no difference. A driver that
 * cannot answer drops the coroutine and starts a new one later.
 */
import { equalBytes } from '@basa/masking';
import { isRefused, type RefusalReason, type Refused } from '../wire/refusals.ts';
import type { SealingSteps } from '../wire/sealing-work.ts';
import { bodyHashOf, bodyOf } from '../wire/upload-layout.ts';
import { acknowledgeUpload } from './acknowledge.ts';
import { depositMessage, depositToSign } from './deposit.ts';
import type { Device } from './device.ts';
import { keySteps } from './key.ts';
import { ask, type ContributeEnd, type Steps } from './requests.ts';
import type { FrozenSession, SlottedSession, UserPorts } from './session.ts';
import { abandonSession, keyRequestMessage, keyRequestToSign, receiveSlot } from './slot.ts';
import { freezeUpload, headerToSign, maskInput, packMasked, uploadHeaderMessage } from './upload.ts';

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
