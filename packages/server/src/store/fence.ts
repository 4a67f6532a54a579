/** Holds a transaction to the lease it is written under. */
import type { SqlDatabase, SqlSession } from '@basa/service';
import { type Fence, LeaseLost } from './node-store.ts';

/** The lease cannot be taken by another node before the transaction has ended. */
export async function checkFence(
  { dialect }: SqlDatabase,
  { query }: SqlSession,
  fence: Fence | undefined,
): Promise<void> {
  if (fence === undefined) return;
  const held = `SELECT fence FROM turns WHERE name = ? AND fence = ?${dialect.forUpdate}`;
  if ((await query(held, fence.name, fence.number)).length === 0) throw new LeaseLost(fence);
}
