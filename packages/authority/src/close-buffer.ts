/** Closes a buffer: the set is durable first; its keys are computed afterwards, while other steps are taken. */
import { setImmediate as others } from 'node:timers/promises';
import type { CloseAnswer, CloseRequest, Refused } from '@basa/protocol';
import type { DurableAuthority } from './durable-authority.ts';

/** How long other requests wait for keys at most, and one key more. */
const AT_ONCE_MS = 10;

export async function closeBuffer(authority: DurableAuthority, request: CloseRequest): Promise<CloseAnswer | Refused> {
  const settled = await authority.step((core, now) => core.settle(request, now));
  if ('kind' in settled) return settled;
  const releasing = authority.core.release(settled);
  for (let since = performance.now(); ; ) {
    const { done, value } = releasing.next();
    if (done === true) return value;
    if (performance.now() - since < AT_ONCE_MS) continue;
    await others();
    since = performance.now();
  }
}
