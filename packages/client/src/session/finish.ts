/**
 * Finishes the session of the device, continuing from the step that its records show: the same code after a crash as
 * without one. Each step is durable before its bytes leave.
 */
import { type ContributeEnd, type ContributeRequest, contributeSteps, type ShotStart, shotSteps } from '@basa/protocol';
import { StoreError } from '../errors.ts';
import type { Contribution, Rejection, Step } from './contribution.ts';
import { type DeviceContext, membershipOf, userPorts } from './device-context.ts';
import type { Meter } from './meter.ts';
import { rejected } from './rejections.ts';
import { SessionDriver } from './session-driver.ts';

/** One-shot: an update that begins its session here. */
export interface NewShot {
  readonly given: ShotStart;
  /** x', which is wiped. */
  readonly input: Uint32Array;
}

/** Resolves with the result; throws if it is not decided yet, with the session kept. */
export async function finishSession(
  context: DeviceContext,
  meter: Meter,
  signal: AbortSignal,
  shot?: NewShot,
): Promise<Contribution | Rejection> {
  const { state } = context;
  const driver = new SessionDriver(context, signal, shot?.input);
  const end = await drive(stepsOf(context, shot), driver, meter).finally(() => driver.wipe());
  switch (end.kind) {
    case 'acknowledged':
      return { kind: 'accepted', ...driver.given, costs: meter.costs };
    case 'left':
      return rejected(end.reason, 'free', driver.problem);
    case 'held':
      // Its bytes were offered: from here on no more bytes leave, and only the authority's outcome frees the update.
      await state.dropSession();
      return rejected(end.reason, 'held', driver.problem);
    case 'damaged':
      throw new StoreError(end.problem);
  }
}

type Steps = ReturnType<typeof contributeSteps>;

function stepsOf(context: DeviceContext, shot: NewShot | undefined): Steps {
  const { outside, state } = context;
  const device = { ledger: state.ledger, session: state.session };
  const member = membershipOf(state);
  if (member !== undefined) return contributeSteps(userPorts(context, member.descriptor), device);
  return shotSteps(outside, device, shot?.given);
}

async function drive(steps: Steps, driver: SessionDriver, meter: Meter): Promise<ContributeEnd> {
  let next = steps.next();
  let phase: Step | undefined;
  while (!next.done) {
    const { value: request } = next;
    phase = phaseOf(request, phase);
    next = await meter.measure(phase, async () => steps.next(await driver.answer(request)));
  }
  return next.value;
}

/** The step that a request is charged to: a step begins with a signature or the input. */
function phaseOf(request: ContributeRequest, before: Step | undefined): Step {
  if (request.kind === 'sign') return request.of;
  if (request.kind === 'input' || request.kind === 'keys') return 'mask';
  return before ?? 'deposit';
}
