/** Buffers: facts, deposits and inboxes. The buffer's row is locked first and read afterwards, so that two nodes never take one slot. */
import {
  type BufferFact,
  type Ctx,
  type DescribedBuffer,
  type Descriptor,
  decodeBufferRecord,
  decodeHeldPolicy,
  descriptorCodec,
  encodeBufferRecord,
  isGranted,
  type ModelEntry,
  type SecureBuffer,
  type Slot,
  type TaskId,
  type UserId,
  withPolicy,
} from '@basa/protocol';
import { column, type Row, type SqlDatabase, type SqlSession } from '@basa/service';
import { insertRows } from './insert-rows.ts';
import { checkFence, type Fence } from './leases.ts';
import { dropPendingModel, logModel } from './models.ts';
import { insertOpened, type OpenedRow } from './opened.ts';
import { freeShots, type RefusedShot } from './shots.ts';
import { type BegunSlot, beginSlot, finishSlot } from './slots.ts';
import { putBody, type SmallBody } from './small-bodies.ts';
import { judge, type Verdict } from './suspicions.ts';
import { OPEN } from './tasks.ts';

export interface StoredBuffer extends DescribedBuffer {
  readonly ctx: Ctx;
  readonly task: TaskId;
  readonly drawnAt: number;
}

/** The writes of one step of a buffer. A buffer that ends keeps only its facts: deposits, inboxes and pieces are removed. */
export interface BufferChange {
  readonly facts: readonly BufferFact[];
  readonly status: SecureBuffer['status'];
  /** The deposit that came with a slot, and the seeds it seals to each later slot, the next one first. */
  readonly deposit?: BegunSlot & { readonly bytes: Uint8Array; readonly outbox: readonly Uint8Array[] };
  /** The body of an upload that is accepted, if it is small and came in one request. */
  readonly body?: SmallBody;
  /** The result of opening the sum. */
  readonly opened?: OpenedRow;
  /** The pending model that the authority has logged: in the same transaction as "included". */
  readonly logged?: ModelEntry;
  /** The sum was lost: the pending model that includes it is abandoned. */
  readonly withoutModel?: true;
  /** Users whose slots were left unused. */
  readonly burnt?: { readonly users: readonly UserId[]; readonly at: number };
  /** The verdict on its sum. */
  readonly verdict?: Verdict;
  /** The batch is dissolved: its uploads wait again, without these. */
  readonly freed?: readonly RefusedShot[];
}

const FACTS = 'SELECT record FROM records WHERE ctx = ? AND number > ? ORDER BY number';
/** Buffers with the policy of their task. */
const BUFFERS = 'SELECT b.*, t.policy FROM buffers b JOIN tasks t ON t.task = b.task';
const LIVING = `${BUFFERS} WHERE b.status IN ${OPEN} AND b.batch_number IS NULL ORDER BY b.drawn_at, b.ctx`;
const ENDED = `SELECT ctx FROM buffers WHERE task = ? AND drawn_at < ? AND status NOT IN ${OPEN} ORDER BY drawn_at LIMIT ?`;
const BURNT = `SELECT (SELECT COUNT(*) FROM burnt_slots WHERE usr = ? AND at >= ?)
  + (SELECT COUNT(*) FROM idle_places WHERE usr = ? AND at >= ?) AS burnt`;
/** A nonce whose buffer is drawn, or cannot be used. */
export const FORGET_DRAW = 'UPDATE tasks SET draw_nonce = NULL WHERE task = ? AND draw_nonce = ?';
/** Rows of a buffer in other tables until it ends. */
const WHILE_OPEN = ['deposits', 'inboxes', 'pieces', 'opened'];

export function bufferTables(database: SqlDatabase) {
  const facts = async ({ query }: Pick<SqlSession, 'query'>, ctx: Ctx, known: number): Promise<readonly BufferFact[]> =>
    (await query(FACTS, ctx, known)).map((row) => decodeBufferRecord(column.bytes(row, 'record')));
  return {
    /** `nonce`: of the draw that ends with this. */
    addBuffer: ({ ctx, task, descriptor, slotKeys, drawnAt }: StoredBuffer, nonce?: Uint8Array): Promise<void> =>
      database.transaction(async ({ query }) => {
        await query(
          `INSERT INTO buffers (ctx, task, descriptor, slot_keys, status, last_record, drawn_at)
            VALUES (?, ?, ?, ?, 'filling', 0, ?) ON CONFLICT (ctx) DO NOTHING`,
          ctx,
          task,
          descriptorCodec.encode(descriptor),
          slotKeys,
          drawnAt,
        );
        if (nonce !== undefined) await query(FORGET_DRAW, task, nonce);
      }),
    buffer: async (ctx: Ctx): Promise<StoredBuffer | undefined> =>
      (await database.query(`${BUFFERS} WHERE b.ctx = ? AND b.batch_number IS NULL`, ctx)).map(readBuffer)[0],
    /** Buffers that are filling, frozen or granted, oldest first, with the number of their last fact. */
    livingBuffers: async (): Promise<readonly (StoredBuffer & { readonly number: number })[]> =>
      (await database.query(LIVING)).map((row) => ({ ...readBuffer(row), number: column.number(row, 'last_record') })),
    /**
     * Locks the buffer, passes the facts after number `known` and the time to `step`, and writes its result. `step` may
     * be called again if the database asks for it, so it must only compute. Throws `TooManySlots` for a deposit of a
     * device that has to finish others first.
     */
    advance: <Result>(
      ctx: Ctx,
      known: number,
      step: (
        newFacts: readonly BufferFact[],
        now: number,
      ) => { readonly change: BufferChange | undefined; readonly result: Result },
      fence?: Fence,
    ): Promise<{ readonly result: Result; readonly number: number }> =>
      database.transaction(async (session) => {
        const locked = `SELECT last_record FROM buffers WHERE ctx = ?${database.dialect.forUpdate}`;
        const [row] = await session.query(locked, ctx);
        if (row === undefined) throw new Error('no such buffer in the store');
        await checkFence(database, session, fence);
        const last = column.number(row, 'last_record');
        // The time after the wait for the lock, so that a node that was paused does not judge by an old one.
        const now = await session.now();
        const { change, result } = step(known === last ? [] : await facts(session, ctx, known), now);
        if (change === undefined) return { result, number: last };
        return { result, number: await writeChange(database, session, { ctx, last, now }, change) };
      }),
    /** Returns the current facts after number `known`. */
    facts: (ctx: Ctx, known: number): Promise<readonly BufferFact[]> => facts(database, ctx, known),
    inbox: async (ctx: Ctx, slot: Slot): Promise<readonly Uint8Array[]> => {
      const statement = 'SELECT entry FROM inboxes WHERE ctx = ? AND to_slot = ? ORDER BY from_slot';
      return (await database.query(statement, ctx, slot)).map((row) => column.bytes(row, 'entry'));
    },
    deposits: async (ctx: Ctx): Promise<readonly Uint8Array[]> =>
      (await database.query('SELECT deposit FROM deposits WHERE ctx = ? ORDER BY slot', ctx)).map((row) =>
        column.bytes(row, 'deposit'),
      ),
    /** Burnt slots and idle places of the device. */
    burntSince: async (user: UserId, since: number): Promise<number> => {
      const [row] = await database.query(BURNT, user, since, user, since);
      return row === undefined ? 0 : column.number(row, 'burnt');
    },
    /** Removes the facts of ended buffers, the oldest first, `limit` at a time. Returns their number. */
    forgetBuffers: (
      task: TaskId,
      { drawnBefore, limit }: { readonly drawnBefore: number; readonly limit: number },
      fence?: Fence,
    ): Promise<number> =>
      database.transaction(async (session) => {
        await checkFence(database, session, fence);
        const ended = await session.query(ENDED, task, drawnBefore, limit);
        for (const row of ended)
          for (const table of ['records', ...WHILE_OPEN, 'shots', 'buffers'])
            await session.query(`DELETE FROM ${table} WHERE ctx = ?`, column.bytes(row, 'ctx'));
        return ended.length;
      }),
    /** Burnt slots and idle places from before this time no longer count. */
    async forgetBurnt(before: number): Promise<void> {
      for (const table of ['burnt_slots', 'idle_places'])
        await database.query(`DELETE FROM ${table} WHERE at < ?`, before);
    },
  };
}

async function writeChange(
  database: SqlDatabase,
  session: SqlSession,
  { ctx, last, now }: { readonly ctx: Ctx; readonly last: number; readonly now: number },
  change: BufferChange,
): Promise<number> {
  const { facts, status, deposit, body, opened, logged, withoutModel, burnt, verdict, freed } = change;
  const records = facts.map((fact, n) => [ctx, last + 1 + n, encodeBufferRecord(fact)]);
  await insertRows(session, 'records (ctx, number, record)', records);
  if (deposit !== undefined) {
    await beginSlot(database, session, ctx, deposit, now);
    await writeDeposit(session, ctx, deposit);
  }
  for (const fact of facts) if (fact.kind === 'accepted') await finishSlot(session, ctx, fact.header.slot);
  if (logged !== undefined) await logModel(session, logged);
  if (opened !== undefined) await insertOpened(session, { ...opened, ctx, at: now });
  if (withoutModel) await dropPendingModel(session, ctx);
  if (body !== undefined) await putBody(session, body);
  const users = (burnt?.users ?? []).map((user) => [user, ctx, burnt?.at ?? 0]);
  await insertRows(session, 'burnt_slots (usr, ctx, at)', users, ' ON CONFLICT DO NOTHING');
  if (verdict !== undefined) await judge(database, session, ctx, verdict, now);
  if (freed !== undefined) await freeShots(session, ctx, freed);
  if (isEnded(status)) for (const table of WHILE_OPEN) await session.query(`DELETE FROM ${table} WHERE ctx = ?`, ctx);
  const number = last + facts.length;
  await session.query('UPDATE buffers SET status = ?, last_record = ? WHERE ctx = ?', status, number, ctx);
  return number;
}

/** It uses up the ticket of the device: a seat becomes a slot, and is counted as exactly one of them at every moment. */
async function writeDeposit(
  session: SqlSession,
  ctx: Ctx,
  { slot, task, user, bytes, outbox }: NonNullable<BufferChange['deposit']>,
): Promise<void> {
  await session.query('INSERT INTO deposits (ctx, slot, usr, deposit) VALUES (?, ?, ?, ?)', ctx, slot, user, bytes);
  const entries = outbox.map((entry, n) => [ctx, slot + 1 + n, slot, entry]);
  await insertRows(session, 'inboxes (ctx, to_slot, from_slot, entry)', entries);
  await session.query('DELETE FROM tickets WHERE task = ? AND usr = ?', task, user);
}

function readBuffer(row: Row): StoredBuffer {
  return {
    ctx: column.bytes(row, 'ctx') as Ctx,
    task: column.bytes(row, 'task') as TaskId,
    descriptor: readDescriptor(row),
    slotKeys: column.bytes(row, 'slot_keys'),
    drawnAt: column.number(row, 'drawn_at'),
  };
}

/** Of a row of `buffers` with the policy of its task. */
export function readDescriptor(row: Row): Descriptor {
  return withPolicy(
    decodeHeldPolicy(column.bytes(row, 'policy')),
    descriptorCodec.decode(column.bytes(row, 'descriptor')),
  );
}

/** True if a buffer has ended in any way. */
export function isEnded(status: SecureBuffer['status']): boolean {
  return status !== 'filling' && status !== 'frozen' && !isGranted({ status });
}
