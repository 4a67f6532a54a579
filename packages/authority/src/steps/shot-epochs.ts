/** The periodic work of an authority: epochs open when they are due, and the units of those that are over are destroyed. */
import { equalBytes } from '@basa/masking';
import {
  type EpochKeys,
  epochKeysOf,
  epochStatement,
  isEpochDue,
  isEpochOver,
  millis,
  oneShotOf,
} from '@basa/protocol';
import { withKem } from '@basa/runtime/kem';
import { nodeSuite } from '@basa/runtime/node';
import type { ShotTools } from './shot-work.ts';
import type { KnownTask } from './tasks.ts';

const suite = withKem(nodeSuite);

export type ShotEpochTools = Pick<
  ShotTools,
  'tasks' | 'store' | 'units' | 'queue' | 'examined' | 'signer' | 'randomBytes'
>;

/** Opens an epoch of the task if one is due: its unit is on the disk before anybody sees the statement. */
export async function openEpochIfDue(tools: ShotEpochTools, { task, policy }: KnownTask): Promise<void> {
  const { units, store, queue, signer, randomBytes } = tools;
  const now = millis(await store.transaction((tables) => tables.now()));
  const isDue = (): boolean => isEpochDue(policy, units.of(task), now);
  if (!isDue()) return;
  await queue(async () => {
    if (!isDue()) return; // another request was first
    const secret = randomBytes(32);
    const keys: EpochKeys = epochKeysOf(suite, oneShotOf(policy).sealing, secret);
    await units.create(epochStatement(signer, { task, policy }, keys, now), secret);
    secret.fill(0);
  });
}

export async function tick(tools: ShotEpochTools): Promise<void> {
  const { store } = tools;
  await store.transaction(async (tables) => tables.forgetTokens(await tables.now()));
  await settleEpochs(tools);
}

/** After the start and on every tick. */
export async function settleEpochs(tools: ShotEpochTools): Promise<void> {
  const { tasks, store, units, queue, examined } = tools;
  const now = millis(await store.transaction((tables) => tables.now()));
  await queue(async () => {
    await units.destroy((epoch) => {
      const policy = tasks.find(epoch.task)?.policy;
      return policy === undefined || isEpochOver(policy, epoch, now);
    });
    if (!units.needOlder) await forgetOlderKeys(tools);
  });
  for (const known of tasks.all) if (known.policy.oneShot !== undefined) await openEpochIfDue(tools, known);
  examined.keepOnly((statement) => units.all.some((unit) => equalBytes(unit.statement, statement)));
}

/** No unit is left that an earlier key of the vault sealed. */
async function forgetOlderKeys({ store }: ShotEpochTools): Promise<void> {
  const had = await store.transaction(async (tables) => {
    const { length } = await tables.olderKeys();
    if (length > 0) await tables.replaceOlderKeys([]);
    return length > 0;
  });
  if (had) await store.purge();
}
