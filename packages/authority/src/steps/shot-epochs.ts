/** The periodic work of an authority: epochs open when they are due and end in time, and secrets of ended epochs are destroyed. */
import { toHex } from '@basa/masking';
import type { EpochKeys, TaskId } from '@basa/protocol';
import type { ShotSecrets } from '../keys/shot-secrets.ts';
import type { ExaminedUploads } from '../masks/examined-uploads.ts';
import type { AuthorityStore } from '../store/store.ts';
import type { DurableAuthority } from './durable-authority.ts';

export interface ShotEpochTools {
  readonly authority: DurableAuthority;
  readonly store: AuthorityStore;
  readonly shotSecrets: ShotSecrets;
  readonly examined: ExaminedUploads;
}

/** Nothing is done with them: no epoch is due. */
const NO_KEYS: EpochKeys = { key: new Uint8Array(32), kemKey: undefined };

/** Opens an epoch of the task if one is due; the secret and the record of its statement are durable together. */
export async function openEpochIfDue({ authority, shotSecrets }: ShotEpochTools, task: TaskId): Promise<void> {
  if (!(await authority.look((core, now) => core.isEpochDue(task, now)))) return;
  await authority.take(async ({ tables, core, now, compute }) => {
    // Another request may have opened an epoch in the meantime.
    const isDue = core.isEpochDue(task, now);
    const sealing = authority.directory.task(task)?.policy.oneShot?.sealing ?? 'x25519';
    const keys = isDue ? await shotSecrets.make(tables, task, sealing) : NO_KEYS;
    return compute(() => core.openEpoch(task, keys, now));
  });
  await authority.look(() => undefined); // unlocks the secret
}

/** Ends overdue epochs, forgets expired tokens, and does the work that follows. */
export async function tick(tools: ShotEpochTools): Promise<void> {
  const { authority, store } = tools;
  await authority.step((core, now) => core.tick(now));
  await store.transaction(async (tables) => tables.forgetTokens(await tables.now()));
  await settleEpochs(tools);
}

/** After the start and on every tick, once the records that end epochs are durable. */
export async function settleEpochs(tools: ShotEpochTools): Promise<void> {
  const { authority, store, shotSecrets, examined } = tools;
  const tasks = authority.directory.tasks().filter(({ policy }) => policy.oneShot !== undefined);
  if (tasks.length === 0) return;
  const destroyed = await authority.locked(({ tables, core }) => shotSecrets.destroyAllBut(tables, core.liveEpochs));
  if (destroyed > 0) await store.purge();
  for (const { task } of tasks) await openEpochIfDue(tools, task);
  const live = new Set((await authority.look((core) => core.liveEpochs)).map(({ statement }) => toHex(statement)));
  examined.keepOnly((statement) => live.has(toHex(statement)));
}
