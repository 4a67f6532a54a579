/** What several nodes share beside buffers: leases (the table `turns`), seats, and when one of them was last alive. */
import { equalBytes, toHex } from '@basa/masking';
import { type Ctx, encodeBufferRecord, type TaskId, type UserId } from '@basa/protocol';
import { column, type Row, type SqlDatabase, type SqlSession } from '@basa/service';
import type { StoredBuffer } from './buffer-store.ts';
import type { NodeStore, SharedSeat } from './node-store.ts';
import { BUFFER_COLUMNS, BUFFERS, readBuffer, readTaskState } from './rows.ts';
import { forgetNonce } from './sql-buffers.ts';
import { sqlPlaces } from './sql-places.ts';
import { suspicionsOf } from './sql-suspicions.ts';
import { mayEnter } from './suspicion-store.ts';

const ALIVE = 'alive-at';
/** Every open buffer with how many are in it, and what the device has there. One statement: a seat that becomes a deposit is counted once. */
const OPEN_BUFFERS = `SELECT ${BUFFER_COLUMNS},
    (SELECT COUNT(*) FROM deposits d WHERE d.ctx = b.ctx) AS deposited,
    (SELECT COUNT(*) FROM seats s WHERE s.ctx = b.ctx AND s.lapses_at > ?) AS seated,
    (SELECT COUNT(*) FROM seats s WHERE s.ctx = b.ctx AND s.usr = ? AND s.lapses_at > ?) AS held,
    (SELECT COUNT(*) FROM deposits d WHERE d.ctx = b.ctx AND d.usr = ?) AS mine
  FROM ${BUFFERS} WHERE b.task = ? AND b.status = 'filling' ORDER BY b.drawn_at, b.ctx`;
const IN_OPEN_BUFFERS = `SELECT b.ctx, d.usr FROM buffers b JOIN deposits d ON d.ctx = b.ctx WHERE b.task = ? AND b.status = 'filling'
  UNION SELECT s.ctx, s.usr FROM seats s WHERE s.task = ? AND s.lapses_at > ?`;
const TAKE_SEAT = `INSERT INTO seats (task, usr, ctx, lapses_at) VALUES (?, ?, ?, ?)
  ON CONFLICT (task, usr) DO UPDATE SET ctx = excluded.ctx, lapses_at = excluded.lapses_at`;

export function sqlNodes(database: SqlDatabase): NodeStore {
  const { forUpdate } = database.dialect;
  return {
    takeLease: (name, holder, forMs) =>
      database.transaction(async (session) => {
        const { query } = session;
        const locked = `SELECT * FROM turns WHERE name = ?${forUpdate}`;
        let [row] = await query(locked, name);
        if (row === undefined) {
          const first = `INSERT INTO turns (name, holder, until, fence) VALUES (?, '', 0, 0) ON CONFLICT DO NOTHING`;
          await query(first, name);
          [row] = await query(locked, name);
        }
        if (row === undefined) throw new Error('a lease that was just written is not there');
        const now = await session.now();
        const isMine = column.text(row, 'holder') === holder;
        const leftMs = column.number(row, 'until') - now;
        if (!isMine && leftMs > 0) return undefined;
        const fence = column.number(row, 'fence') + (isMine ? 0 : 1);
        const isFresh = isMine && leftMs > (2 * forMs) / 3;
        const statement = 'UPDATE turns SET holder = ?, until = ?, fence = ? WHERE name = ?';
        if (!isFresh) await query(statement, holder, now + forMs, fence, name);
        return fence;
      }),
    async renewLease({ name, number }, forMs) {
      // A node that stops between the two writes a time that is too early, which does no harm.
      const until = (await database.now()) + forMs;
      await database.query('UPDATE turns SET until = ? WHERE name = ? AND fence = ?', until, name, number);
    },
    async giveLeaseBack(name, holder) {
      await database.query('UPDATE turns SET until = 0 WHERE name = ? AND holder = ?', name, holder);
    },
    takeSeat: (task, user, { forMs, freshNonce, version, only, lateMs }) =>
      database.transaction(async (session) => {
        const locked = `SELECT task, state, why, draw_nonce FROM tasks WHERE task = ?${forUpdate}`;
        const [row] = await session.query(locked, task);
        const isRunning = row !== undefined && readTaskState(row).state === 'running';
        // Whoever is on the way into a buffer goes on.
        if (row === undefined || (!isRunning && only === undefined)) return { kind: 'not-running' };
        const seat = await seatIn(session, { task, user, forMs, version, only, lateMs });
        if (seat !== undefined) return seat;
        const nonce = column.optional(row, 'draw_nonce', column.bytes) ?? freshNonce;
        if (only === undefined && nonce === freshNonce)
          await session.query('UPDATE tasks SET draw_nonce = ? WHERE task = ?', nonce, task);
        return { kind: 'needs-buffer', nonce };
      }),
    async forgetDraw(task, nonce) {
      await database.query(...forgetNonce(task, nonce));
    },
    async forgetSeats() {
      const now = await database.now();
      await database.query('DELETE FROM seats WHERE lapses_at <= ?', now);
      await database.query('DELETE FROM waiting WHERE until <= ?', now);
    },
    ...sqlPlaces(database),
    noteAlive: (minGapMs) =>
      database.transaction(async (session) => {
        const { query } = session;
        const [row] = await query(`SELECT value FROM meta WHERE name = ?${forUpdate}`, ALIVE);
        const now = await session.now();
        const gapMs = row === undefined ? 0 : Math.max(0, now - timeOf(column.bytes(row, 'value')));
        const isDown = gapMs > 0 && gapMs >= minGapMs;
        if (isDown) await extendLeases(session, gapMs, forUpdate);
        const statement =
          'INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value';
        await query(statement, ALIVE, bytesOfTime(now));
        return isDown ? gapMs : 0;
      }),
  };
}

interface Wish {
  readonly task: TaskId;
  readonly user: UserId;
  readonly forMs: number;
  readonly version: number | undefined;
  readonly only: Ctx | undefined;
  readonly lateMs: number;
}

/** The task is locked: nobody else takes a seat meanwhile. */
async function seatIn(session: SqlSession, wish: Wish): Promise<SharedSeat | undefined> {
  const { task, user, forMs, version, only, lateMs } = wish;
  const now = await session.now();
  const open = (await session.query(OPEN_BUFFERS, now, user, now, user, task))
    .map((row) => ({ ...readBuffer(row), ...countsOf(row) }))
    .filter(({ descriptor, mine }) => now < descriptor.expiry && mine === 0);
  const isAsked = ({ ctx, descriptor }: StoredBuffer): boolean =>
    (only === undefined || equalBytes(ctx, only)) &&
    (version === undefined || descriptor.versions !== 'one' || descriptor.version === version);
  const held = open.find((buffer) => buffer.held > 0 && isAsked(buffer));
  const free = open.filter(
    (buffer) => isAsked(buffer) && buffer.seated + buffer.deposited < buffer.descriptor.bufferSize,
  );
  const mayEnter = held === undefined ? await companyRule(session, { task, user, lateMs, now }) : () => true;
  const found = held ?? free.find(mayEnter);
  if (found === undefined) return free.length > 0 ? { kind: 'must-wait' } : undefined;
  if (held === undefined) await session.query(TAKE_SEAT, task, user, found.ctx, now + forMs);
  const { ctx, seated, deposited } = found;
  return { kind: 'seated', ctx, seats: seated + (held === undefined ? 1 : 0), deposits: deposited };
}

/** Where the device may sit down by how much it and those there are suspected. */
async function companyRule(
  session: SqlSession,
  { task, user, lateMs, now }: Pick<Wish, 'task' | 'user' | 'lateMs'> & { readonly now: number },
): Promise<(buffer: StoredBuffer) => boolean> {
  const suspicions = await suspicionsOf(session, task);
  if (!suspicions.suspects.has(toHex(user))) return () => true;
  const company = (await session.query(IN_OPEN_BUFFERS, task, task, now)).map((row) => ({
    ctx: toHex(column.bytes(row, 'ctx')),
    user: toHex(column.bytes(row, 'usr')),
  }));
  return ({ ctx, descriptor }) => {
    const users = company.filter((one) => one.ctx === toHex(ctx)).map((one) => one.user);
    const { minimum, expiry } = descriptor;
    return mayEnter(suspicions, toHex(user), { ctx, minimum, users, isLate: now >= expiry - lateMs });
  };
}

function countsOf(row: Row) {
  const [seated, deposited] = [column.number(row, 'seated'), column.number(row, 'deposited')];
  return { seated, deposited, held: column.number(row, 'held'), mine: column.number(row, 'mine') };
}

/** Of every buffer somebody may wait in. */
async function extendLeases({ query }: SqlSession, byMs: number, forUpdate: string): Promise<void> {
  await query('UPDATE unfinished_slots SET until = until + ?', byMs);
  const waiting = `SELECT ctx, last_record FROM buffers WHERE status = 'filling'
    AND EXISTS (SELECT 1 FROM deposits d WHERE d.ctx = buffers.ctx) ORDER BY ctx${forUpdate}`;
  for (const row of await query(waiting)) {
    const ctx = column.bytes(row, 'ctx');
    const number = column.number(row, 'last_record') + 1;
    const record = encodeBufferRecord({ kind: 'extended', byMs });
    await query('INSERT INTO records (ctx, number, record) VALUES (?, ?, ?)', ctx, number, record);
    await query('UPDATE buffers SET last_record = ? WHERE ctx = ?', number, ctx);
  }
}

function timeOf(bytes: Uint8Array): number {
  return Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0));
}

function bytesOfTime(time: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(Math.round(time)));
  return bytes;
}
