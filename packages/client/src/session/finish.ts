/**
 * Sends the upload of the device and takes the server's answer: a new one, or the stored one after a crash. Each step is durable before its
 * bytes leave.
 */
import { type ProblemCode, problemOf } from '@basa/protocol/http';
import {
  type ContributeEnd,
  type ContributeRequest,
  giveShot,
  resumeShot,
  type ShotStart,
} from '@basa/protocol/one-shot';
import { ProblemError } from '../errors.ts';
import type { Contribution, Rejection, Step } from './contribution.ts';
import type { DeviceContext } from './device-context.ts';
import type { Meter } from './meter.ts';
import { rejected } from './rejections.ts';
import { SessionDriver } from './session-driver.ts';

/** An update that begins its session here. */
export interface NewShot {
  readonly given: ShotStart;
  /** x', which is masked in place. */
  readonly input: Uint32Array;
}

/**
 * Resolves with the result; throws if it is not decided yet, with the session kept. The session is also kept if the server takes the bytes
 * of an upload later, for example because the task is paused.
 */
export async function finishSession(
  context: DeviceContext,
  meter: Meter,
  signal: AbortSignal,
  shot?: NewShot,
): Promise<Contribution | Rejection> {
  const { outside, state } = context;
  const driver = new SessionDriver(context, signal, shot?.input);
  const device = { ledger: state.ledger, session: state.session };
  const steps = shot === undefined ? resumeShot(outside, device, outside.now()) : giveShot(outside, device, shot.given);
  const end = await drive(steps, driver, meter)
    .catch((error: unknown) => waitingEnd(context, error))
    .finally(() => driver.wipe());
  switch (end.kind) {
    case 'waiting':
      return rejected(end.problem.code as ProblemCode, 'given', end.problem);
    case 'acknowledged':
      return { kind: 'accepted', ...driver.given, costs: meter.costs };
    case 'left':
      return rejected(end.reason, 'free', driver.problem);
    case 'refused':
      await state.dropSession();
      return rejected(end.reason, 'given', driver.problem);
  }
}

/** The bytes stay on the device, and `resume` sends them later. Rethrows anything else. */
function waitingEnd(
  { state }: DeviceContext,
  error: unknown,
): { readonly kind: 'waiting'; readonly problem: ProblemError } {
  const isOfUpload =
    state.session?.step === 'shot' && error instanceof ProblemError && error.code !== 'unknown-problem';
  if (!isOfUpload) throw error;
  const { about, retry, resend } = problemOf(error.code as ProblemCode);
  if (about !== 'update' || retry !== true || resend === true) throw error;
  return { kind: 'waiting', problem: error };
}

async function drive(steps: ReturnType<typeof giveShot>, driver: SessionDriver, meter: Meter): Promise<ContributeEnd> {
  let next = steps.next();
  let phase: Step = 'mask';
  while (!next.done) {
    const { value: request } = next;
    phase = phaseOf(request, phase);
    next = await meter.measure(phase, async () => steps.next(await driver.answer(request)));
  }
  return next.value;
}

/** The step that a request is charged to: the upload begins with what is stored. */
function phaseOf(request: ContributeRequest, before: Step): Step {
  return request.kind === 'durable' || request.kind === 'body' ? 'upload' : before;
}
