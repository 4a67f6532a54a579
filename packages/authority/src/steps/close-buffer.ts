/** Closes a buffer: the set is durable first; its keys are computed afterwards, while other steps run. */
import { type CloseAnswer, type CloseRequest, ownPart, type Refused } from '@basa/protocol';
import type { KeyEpochs } from '../keys/key-epochs.ts';
import type { DurableAuthority } from './durable-authority.ts';

export async function closeBuffer(
  authority: DurableAuthority,
  epochs: KeyEpochs,
  request: CloseRequest,
): Promise<CloseAnswer | Refused> {
  const settled = await authority.step((core, now) => core.settle(request, now));
  if ('kind' in settled) return settled;
  const { ctx, descriptor, closed } = settled.buffer;
  const part = ownPart(authority.core.publicKey, descriptor);
  if (closed === undefined || part === undefined) return authority.core.release(settled);
  const { task, bufferSize, engine } = descriptor;
  const keys = await epochs.keysOf(
    { engine, sealingKey: part.sealingKey },
    {
      kind: 'closed',
      source: { task, bufferSize, offer: part.offer },
      ctx,
      authority: part.authority,
      accepted: closed.accepted.map(({ slot, registration, selfName }) => ({ slot, registration, selfName })),
    },
  );
  return authority.core.release(settled, keys);
}
