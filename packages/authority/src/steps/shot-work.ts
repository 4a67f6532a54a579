/** Shared by inspections, votes and releases of the one-shot mode: the view of the authority, its records, and the work for the threads. */
import { type RandomBytes, type Signer, toHex } from '@basa/masking';
import {
  type Authority,
  type BasaEvent,
  type Decision,
  encodePolicy,
  indexOf,
  participationsOf,
  type UserId,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import type { Queue } from '@basa/service';
import type { ExaminedUploads } from '../masks/examined-uploads.ts';
import type { MaskThreads, UploadsWork } from '../masks/mask-threads.ts';
import type { AuthorityStore } from '../store/store.ts';
import type { Units } from '../units/units.ts';
import type { Audit } from './audit.ts';
import type { KnownTask, Tasks } from './tasks.ts';

export interface ShotTools {
  readonly tasks: Tasks;
  readonly store: AuthorityStore;
  readonly units: Units;
  /** Votes, releases, and the beginning and end of epochs: one at a time. */
  readonly queue: Queue;
  readonly examined: ExaminedUploads;
  readonly threads: MaskThreads;
  readonly audit: Audit;
  readonly signer: Signer;
  readonly randomBytes: RandomBytes;
  onEvent(event: BasaEvent): void;
}

export function ownIndex({ signer }: Pick<ShotTools, 'signer'>, { policy }: KnownTask): number {
  return indexOf(policy, signer.publicKey) as number;
}

/** The authority as the functions of the protocol see it. `users` are those whose rows they may ask for. */
export async function viewOf(
  tools: Pick<ShotTools, 'store' | 'units' | 'signer'>,
  known: KnownTask,
  users: readonly UserId[] = [],
): Promise<Authority> {
  const { store, units, signer } = tools;
  const { task, policy } = known;
  const revoked = new Set<string>();
  const batches = new Map<string, number>();
  await store.transaction(async (tables) => {
    for (const user of users) {
      if (await tables.isRevoked(user)) revoked.add(toHex(user));
      if (participationsOf(policy) !== undefined) batches.set(toHex(user), await tables.batchesOf(task, user));
    }
  });
  return {
    suite: nodeSuite,
    signer,
    task,
    policy,
    index: ownIndex(tools, known),
    units: units.of(task),
    isRevoked: (user) => revoked.has(toHex(user)),
    batchesOf: (user) => batches.get(toHex(user)) ?? 0,
  };
}

/** Everything of the decision is on the disk when this returns: then a signature may leave. */
export async function record(
  { store, units }: Pick<ShotTools, 'store' | 'units'>,
  { task, policy }: KnownTask,
  { ctx, users, writes }: Decision,
): Promise<void> {
  if (participationsOf(policy) !== undefined) await store.transaction((tables) => tables.countBatch(task, ctx, users));
  await units.write(writes);
}

/** The uploads of an encoded request, with the secrets of the live epochs of its task. */
export function uploadsWork(tools: ShotTools, known: KnownTask, request: Uint8Array, count: number): UploadsWork {
  const secrets = tools.units.openingsOf(known.task);
  return { request, policy: encodePolicy(known.policy), authority: ownIndex(tools, known), secrets, count };
}
