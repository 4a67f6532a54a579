/** Buffers over SQL. The buffer's row is locked first and read afterwards, so that two nodes never take one slot. */
import { type BufferFact, type Ctx, decodeBufferRecord, descriptorCodec, encodeBufferRecord } from '@basa/protocol';
import { column, type SqlDatabase, type SqlSession } from '@basa/service';
import { type BufferChange, type BufferStore, isEnded } from './buffer-store.ts';
import { checkFence } from './fence.ts';
import { insertRows } from './insert-rows.ts';
import { BUFFER_COLUMNS, BUFFERS, readBuffer } from './rows.ts';
import { logModel } from './sql-models.ts';
import { beginSlot, finishSlot } from './sql-slots.ts';
import { judge } from './sql-suspicions.ts';

const FACTS = 'SELECT record FROM records WHERE ctx = ? AND number > ? ORDER BY number';
export const OPEN = `('filling', 'frozen', 'granted')`;
const BUFFER = `SELECT ${BUFFER_COLUMNS} FROM ${BUFFERS} WHERE b.ctx = ?`;
const LIVING = `SELECT ${BUFFER_COLUMNS} FROM ${BUFFERS} WHERE b.status IN ${OPEN} ORDER BY b.drawn_at, b.ctx`;
const ENDED = `SELECT ctx FROM buffers WHERE task = ? AND drawn_at < ? AND status NOT IN ${OPEN} ORDER BY drawn_at LIMIT ?`;
const BURNT = `SELECT (SELECT COUNT(*) FROM burnt_slots WHERE usr = ? AND at >= ?)
  + (SELECT COUNT(*) FROM idle_places WHERE usr = ? AND at >= ?) AS burnt`;
/** What a buffer has in other tables until it ends. */
const WHILE_OPEN = ['deposits', 'inboxes', 'pieces', 'seats'];

export function sqlBuffers(database: SqlDatabase): BufferStore {
  const facts = async ({ query }: Pick<SqlSession, 'query'>, ctx: Ctx, known: number): Promise<readonly BufferFact[]> =>
    (await query(FACTS, ctx, known)).map((row) => decodeBufferRecord(column.bytes(row, 'record')));
  return {
    addBuffer: ({ ctx, task, descriptor, slotKeys, drawnAt }, nonce) =>
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
        if (nonce !== undefined) await query(...forgetNonce(task, nonce));
      }),
    buffer: async (ctx) => (await database.query(BUFFER, ctx)).map(readBuffer)[0],
    livingBuffers: async () =>
      (await database.query(LIVING)).map((row) => ({ ...readBuffer(row), number: column.number(row, 'last_record') })),
    advance: (ctx, known, step, fence) =>
      database.transaction(async (session) => {
        const locked = `SELECT last_record FROM buffers WHERE ctx = ?${database.dialect.forUpdate}`;
        const [row] = await session.query(locked, ctx);
        if (row === undefined) throw new Error('no such buffer in the store');
        await checkFence(database, session, fence);
        const last = column.number(row, 'last_record');
        // The time after the wait for the lock: a node that was paused does not judge by an old one.
        const now = await session.now();
        const { change, result } = step(known === last ? [] : await facts(session, ctx, known), now);
        if (change === undefined) return { result, number: last };
        return { result, number: await writeChange(database, session, { ctx, last, now }, change) };
      }),
    facts: (ctx, known) => facts(database, ctx, known),
    inbox: async (ctx, slot) => {
      const statement = 'SELECT entry FROM inboxes WHERE ctx = ? AND to_slot = ? ORDER BY from_slot';
      return (await database.query(statement, ctx, slot)).map((row) => column.bytes(row, 'entry'));
    },
    deposits: async (ctx) =>
      (await database.query('SELECT deposit FROM deposits WHERE ctx = ? ORDER BY slot', ctx)).map((row) =>
        column.bytes(row, 'deposit'),
      ),
    burntSince: async (user, since) => {
      const [row] = await database.query(BURNT, user, since, user, since);
      return row === undefined ? 0 : column.number(row, 'burnt');
    },
    forgetBuffers: (task, { drawnBefore, limit }, fence) =>
      database.transaction(async (session) => {
        await checkFence(database, session, fence);
        const ended = await session.query(ENDED, task, drawnBefore, limit);
        for (const row of ended)
          for (const table of ['records', ...WHILE_OPEN, 'buffers'])
            await session.query(`DELETE FROM ${table} WHERE ctx = ?`, column.bytes(row, 'ctx'));
        return ended.length;
      }),
    async forgetBurnt(before) {
      for (const table of ['burnt_slots', 'idle_places'])
        await database.query(`DELETE FROM ${table} WHERE at < ?`, before);
      await database.query('DELETE FROM places WHERE ends_at < ?', before);
    },
  };
}

/** As a statement with its values. */
export function forgetNonce(task: Uint8Array, nonce: Uint8Array): [string, Uint8Array, Uint8Array] {
  return ['UPDATE tasks SET draw_nonce = NULL WHERE task = ? AND draw_nonce = ?', task, nonce];
}

async function writeChange(
  database: SqlDatabase,
  session: SqlSession,
  { ctx, last, now }: { readonly ctx: Ctx; readonly last: number; readonly now: number },
  change: BufferChange,
): Promise<number> {
  const { facts, status, deposit, logged, withoutModel, burnt, verdict } = change;
  const records = facts.map((fact, n) => [ctx, last + 1 + n, encodeBufferRecord(fact)]);
  await insertRows(session, 'records (ctx, number, record)', records);
  if (deposit !== undefined) {
    await beginSlot(database, session, ctx, deposit, now);
    await writeDeposit(session, ctx, deposit);
  }
  for (const fact of facts) if (fact.kind === 'accepted') await finishSlot(session, ctx, fact.header.slot);
  if (logged !== undefined) await logModel(session, logged);
  if (withoutModel) await session.query('DELETE FROM models WHERE ctx = ? AND entry IS NULL', ctx);
  const users = (burnt?.users ?? []).map((user) => [user, ctx, burnt?.at ?? 0]);
  await insertRows(session, 'burnt_slots (usr, ctx, at)', users, ' ON CONFLICT DO NOTHING');
  if (verdict !== undefined) await judge(database, session, ctx, verdict, now);
  if (isEnded(status)) for (const table of WHILE_OPEN) await session.query(`DELETE FROM ${table} WHERE ctx = ?`, ctx);
  const number = last + facts.length;
  await session.query('UPDATE buffers SET status = ?, last_record = ? WHERE ctx = ?', status, number, ctx);
  return number;
}

/** A seat becomes a deposit: it is counted as one of them at every moment. */
async function writeDeposit(
  session: SqlSession,
  ctx: Ctx,
  { slot, user, bytes, outbox }: NonNullable<BufferChange['deposit']>,
): Promise<void> {
  await session.query('INSERT INTO deposits (ctx, slot, usr, deposit) VALUES (?, ?, ?, ?)', ctx, slot, user, bytes);
  const entries = outbox.map((entry, n) => [ctx, slot + 1 + n, slot, entry]);
  await insertRows(session, 'inboxes (ctx, to_slot, from_slot, entry)', entries);
  await session.query('DELETE FROM seats WHERE ctx = ? AND usr = ?', ctx, user);
}
