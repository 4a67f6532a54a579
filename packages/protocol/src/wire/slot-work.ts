/** Slot keys with asynchronous key agreement: the same bytes as `slot-sealing.ts`, with all seeds of a batch at a time. */
import type { Suite } from '@basa/masking';
import { type AsyncX25519, agreeOnKeys } from './key-agreement.ts';
import type { SealingResult, SealingWork } from './sealing-work.ts';
import { slotSteps } from './slot-sealing.ts';

/** Carries out the work of a contribution. The list of the buffer must have been checked. */
export function slotWork(suite: Suite, curve: AsyncX25519): (work: SealingWork) => Promise<SealingResult> {
  return async (work) => {
    const steps = slotSteps(suite, work);
    let next = steps.next();
    while (next.done !== true) next = steps.next(await agreeOnKeys(curve, next.value));
    return next.value;
  };
}
