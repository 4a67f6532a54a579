/** Slots that devices were assigned and have not finished: each counts from its deposit to its upload, or until its lease is over. */
import { toHex } from '@basa/masking';
import type { Ctx, Slot, TaskId, UserId } from '@basa/protocol';
import { column, type SqlDatabase, type SqlSession } from '@basa/service';

/** The number of unfinished slots of a task that a device may have: with more it could open one buffer after the other. */
export const MAX_UNFINISHED_SLOTS = 2;

interface UnfinishedSlots {
  readonly slots: number;
  /** The time until the first of them no longer counts. */
  readonly freeInMs: number;
}

/** A deposit of a device that has too many slots already; nothing was written. */
export class TooManySlots extends Error {
  readonly freeInMs: number;

  constructor({ slots, freeInMs }: UnfinishedSlots) {
    super(`the device has ${slots} slots that are not finished`);
    this.name = 'TooManySlots';
    this.freeInMs = freeInMs;
  }
}

const UNFINISHED = `SELECT COUNT(*) AS slots, MIN(until) AS first_end FROM unfinished_slots
  WHERE task = ? AND usr = ? AND until >= ?`;

export function slotTables(database: SqlDatabase) {
  return {
    /** Slots of the device in the task whose lease runs and whose upload was not accepted. */
    unfinishedSlots: async (task: TaskId, user: UserId): Promise<UnfinishedSlots> =>
      unfinished(database, task, user, await database.now()),
    /** Slots whose lease is over no longer count. */
    async forgetLapsedSlots(): Promise<void> {
      await database.query('DELETE FROM unfinished_slots WHERE until < ?', await database.now());
    },
  };
}

export interface BegunSlot {
  readonly slot: Slot;
  readonly task: TaskId;
  readonly user: UserId;
  /** The end of its lease, as long as the server is up. */
  readonly until: number;
}

/** Runs in the transaction of the deposit. Deposits of one device wait for each other, in all buffers and on all nodes. */
export async function beginSlot(
  { dialect }: SqlDatabase,
  session: SqlSession,
  ctx: Ctx,
  { task, user, slot, until }: BegunSlot,
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
