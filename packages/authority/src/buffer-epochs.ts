/** Buffers and the key epochs they belong to: drawn with the epoch's key, and the key destroyed when nothing needs it. */
import type { RandomBytes } from '@basa/masking';
import { equalBytes } from '@basa/masking';
import type { BufferRequest, DrawnBuffer, Refused } from '@basa/protocol';
import { refused } from '@basa/protocol';
import type { DurableAuthority } from './durable-authority.ts';
import type { KeyEpochs } from './key-epochs.ts';
import { inSlices } from './slices.ts';
import type { AuthorityStore } from './store.ts';

export interface BufferEpochTools {
  readonly authority: DurableAuthority;
  readonly store: AuthorityStore;
  readonly epochs: KeyEpochs;
  readonly randomBytes: RandomBytes;
  readonly epochMs: number;
  /** How long the keys of a closed buffer can be asked for again, if its sum never became a model. */
  readonly closedGraceMs: number;
}

/** The buffer's id is drawn here: its keys hang on it, and a nonce of the server could repeat them after a roll-back. */
export async function drawBuffer(tools: BufferEpochTools, request: BufferRequest): Promise<DrawnBuffer | Refused> {
  const { authority, epochs, randomBytes, epochMs } = tools;
  let made: (Pick<DrawnBuffer, 'slotKeys'> & { readonly bufferId: Uint8Array }) | undefined;
  const descriptor = await authority.take(async ({ tables, core, directory, now, compute }) => {
    const known = directory.task(request.task);
    if (known === undefined) return { records: [], answer: refused('task-unknown'), events: [] };
    const { task, policy } = known;
    const epoch = await epochs.of(tables, task, policy.engine, Math.floor(now / epochMs));
    const bufferId = randomBytes(16);
    const { slotKeys, sealingKey } = await epochs.draw(epoch, { task, bufferId, bufferSize: policy.bufferSize });
    made = { bufferId, slotKeys };
    const step = await compute(() => core.drawBuffer(request, { bufferId, sealingKey }, now));
    if (step.records.length > 0) await epochs.store(tables, epoch);
    return step;
  });
  if ('kind' in descriptor) return descriptor;
  if (made !== undefined && equalBytes(made.bufferId, descriptor.bufferId))
    return { descriptor, slotKeys: made.slotKeys };
  // A request that is repeated gets the earlier buffer, as long as its keys are there.
  const issuer = epochs.issuerFor(descriptor);
  return issuer === undefined
    ? refused('buffer-over')
    : { descriptor, slotKeys: await inSlices(issuer.slotKeys(descriptor)) };
}

/** Aborts what is overdue, forgets tokens that have ended, and destroys the keys of epochs that nothing needs any more. */
export async function tick({ authority, store, epochs, epochMs, closedGraceMs }: BufferEpochTools): Promise<void> {
  await authority.step((core, now) => core.tick(now));
  const destroyed = await authority.locked(async ({ tables, directory, now }) => {
    await tables.forgetTokens(now);
    directory.forgetClosed(now - closedGraceMs);
    return epochs.destroyOver(tables, Math.floor(now / epochMs), (epochKey) => !directory.needs(epochKey));
  });
  if (destroyed > 0) await store.purge();
  await authority.look(() => undefined); // wipes what was destroyed, here or by another node
}
