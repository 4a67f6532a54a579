/** Buffers and the key epochs they belong to: drawn with the epoch's key, and the key destroyed when nothing needs it. */
import type { RandomBytes } from '@basa/masking';
import type { BufferRequest, Descriptor, Refused } from '@basa/protocol';
import { refused } from '@basa/protocol';
import type { DurableAuthority } from './durable-authority.ts';
import type { KeyEpochs } from './key-epochs.ts';
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

export function drawBuffer(tools: BufferEpochTools, request: BufferRequest): Promise<Descriptor | Refused> {
  const { authority, epochs, randomBytes, epochMs } = tools;
  return authority.take(async ({ tables, core, directory, now, compute }) => {
    const known = directory.task(request.task);
    if (known === undefined) return { records: [], answer: refused('task-unknown'), events: [] };
    const epoch = await epochs.of(tables, known.task, known.policy.engine, Math.floor(now / epochMs));
    const fresh = { bufferId: randomBytes(16), sealingKey: epoch.publicKey };
    const step = await compute(() => core.drawBuffer(request, fresh, now));
    if (step.records.length > 0) await epochs.store(tables, epoch);
    return step;
  });
}

/** Aborts what is overdue, forgets tokens that have ended, and destroys the keys of epochs that nothing needs any more. */
export async function tick({ authority, store, epochs, epochMs, closedGraceMs }: BufferEpochTools): Promise<void> {
  await authority.step((core, now) => core.tick(now));
  const destroyed = await authority.locked(async ({ tables, directory, now }) => {
    await tables.forgetTokens(now);
    directory.forgetClosed(now - closedGraceMs);
    return epochs.destroyOver(tables, Math.floor(now / epochMs), (sealingKey) => !directory.needs(sealingKey));
  });
  if (destroyed > 0) await store.purge();
  await authority.look(() => undefined); // wipes what was destroyed, here or by another node
}
