/** Closes a buffer: the set is durable first; its keys are computed afterwards, while other steps are taken. */
import type { CloseAnswer, CloseRequest, Refused } from '@basa/protocol';
import type { DurableAuthority } from './durable-authority.ts';
import { inSlices } from './slices.ts';

export async function closeBuffer(authority: DurableAuthority, request: CloseRequest): Promise<CloseAnswer | Refused> {
  const settled = await authority.step((core, now) => core.settle(request, now));
  return 'kind' in settled ? settled : inSlices(authority.core.release(settled));
}
