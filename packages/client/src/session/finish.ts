/**
 * Brings the session of the device to its end, from whatever step its records show: the same code after a crash as
 * without one. Each step is durable before its bytes leave.
 */
import { toHex } from '@basa/masking';
import { type ContributeEnd, type ContributeRequest, contributeSteps } from '@basa/protocol';
import { StoreError } from '../errors.ts';
import type { Contribution, Rejection, Step } from './contribution.ts';
import { type DeviceContext, userPorts } from './device-context.ts';
import type { Meter } from './meter.ts';
import { rejected } from './rejections.ts';
import { SessionDriver } from './session-driver.ts';

/** Resolves with what became of it; throws where that is not decided yet, with the session kept. */
export async function finishSession(
  context: DeviceContext,
  meter: Meter,
  signal: AbortSignal,
): Promise<Contribution | Rejection> {
  const { state } = context;
  const { ledger, session } = state;
  if (session === undefined) throw new Error('there is no session to finish');
  const { ctx, joinTag, descriptor } = session.member;
  const driver = new SessionDriver(context, session.member, signal);
  const steps = contributeSteps(userPorts(context, descriptor), { ledger, session });
  const end = await drive(steps, driver, meter).finally(() => driver.wipe());
  switch (end.kind) {
    case 'acknowledged':
      return { kind: 'accepted', ctx: toHex(ctx), joinTag: toHex(joinTag), slot: driver.slot, costs: meter.costs };
    case 'left':
      return rejected(end.reason, 'free', driver.problem);
    case 'held':
      // Its bytes were offered: from here on none leave, and only the authority's outcome frees the update.
      await state.dropSession();
      return rejected(end.reason, 'held', driver.problem);
    case 'damaged':
      throw new StoreError(end.problem);
  }
}

async function drive(
  steps: ReturnType<typeof contributeSteps>,
  driver: SessionDriver,
  meter: Meter,
): Promise<ContributeEnd> {
  let next = steps.next();
  let phase: Step = 'deposit';
  while (!next.done) {
    const { value: request } = next;
    phase = phaseOf(request, phase);
    next = await meter.measure(phase, async () => steps.next(await driver.answer(request)));
  }
  return next.value;
}

/** What a request counts to: what it is a part of begins with a signature or the input. */
function phaseOf(request: ContributeRequest, before: Step): Step {
  if (request.kind === 'sign') return request.of;
  return request.kind === 'input' ? 'mask' : before;
}
