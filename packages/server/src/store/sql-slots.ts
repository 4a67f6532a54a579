/** Slots that devices were given and have not finished: each counts from its deposit to its upload, or until its lease is over. */
import { toHex } from '@basa/masking';
import type { Ctx, Slot, TaskId, UserId } from '@basa/protocol';
import { column, type SqlDatabase, type SqlSession } from '@basa/service';
import type { BufferChange } from './buffer-store.ts';
import { MAX_UNFINISHED_SLOTS, type SlotStore, TooManySlots, type UnfinishedSlots } from './slot-store.ts';

const UNFINISHED = `SELECT COUNT(*) AS slots, MIN(until) AS first_end FROM unfinished_slots
  WHERE task = ? AND usr = ? AND until >= ?`;

export function sqlSlots(database: SqlDatabase): SlotStore {
  return {
    unfinishedSlots: async (task, user) => unfinished(database, task, user, await database.now()),
    async forgetLapsedSlots() {
      await database.query('DELETE FROM unfinished_slots WHERE until < ?', await database.now());
    },
  };
}

/** In the transaction of the deposit. Deposits of one device wait for each other, whatever buffers and nodes they go to. */
export async function beginSlot(
  { dialect }: SqlDatabase,
  session: SqlSession,
  ctx: Ctx,
  { task, user, slot, until }: NonNullable<BufferChange['deposit']>,
  now: number,
): Promise<void> {
  if (dialect.lockName !== '') await session.query(dialect.lockName, `slots ${toHex(task)} ${toHex(user)}`);
  const found = await unfinished(session, task, user, now);
  if (found.slots >= MAX_UNFINISHED_SLOTS) throw new TooManySlots(found);
  await session.query(
    'INSERT INTO unfinished_slots (ctx, slot, task, usr, until) VALUES (?, ?, ?, ?, ?)',
    ctx,
    slot,
    task,
    user,
    until,
  );
}

/** Its upload is accepted. */
export async function finishSlot({ query }: SqlSession, ctx: Ctx, slot: Slot): Promise<void> {
  await query('DELETE FROM unfinished_slots WHERE ctx = ? AND slot = ?', ctx, slot);
}

async function unfinished(
  { query }: Pick<SqlSession, 'query'>,
  task: TaskId,
  user: UserId,
  now: number,
): Promise<UnfinishedSlots> {
  const [row = {}] = await query(UNFINISHED, task, user, now);
  const slots = column.number(row, 'slots');
  return { slots, freeInMs: slots === 0 ? 0 : column.number(row, 'first_end') - now + 1 };
}
