/** Leases for work that only one node may do. A write under a lease is refused once another node has taken it. */
import { encodeBufferRecord } from '@basa/protocol';
import { column, type SqlDatabase, type SqlSession } from '@basa/service';

/** A lease that a node holds. The number rises whenever another node takes it. */
export interface Fence {
  readonly name: string;
  readonly number: number;
}

export class LeaseLost extends Error {
  constructor({ name }: Fence) {
    super(`another node has taken the lease ${name}; nothing was written`);
    this.name = 'LeaseLost';
  }
}

const ALIVE = 'alive-at';

export function leaseTables(database: SqlDatabase) {
  const { forUpdate } = database.dialect;
  return {
    /** Takes the lease for `forMs` from now on. Returns its fence; undefined if another holder has it. */
    takeLease: (name: string, holder: string, forMs: number): Promise<number | undefined> =>
      database.transaction(async (session) => {
        const { query } = session;
        const locked = `SELECT * FROM leases WHERE name = ?${forUpdate}`;
        let [row] = await query(locked, name);
        if (row === undefined) {
          const first = `INSERT INTO leases (name, holder, until, fence) VALUES (?, '', 0, 0) ON CONFLICT DO NOTHING`;
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
        const statement = 'UPDATE leases SET holder = ?, until = ?, fence = ? WHERE name = ?';
        if (!isFresh) await query(statement, holder, now + forMs, fence, name);
        return fence;
      }),
    /** Makes the lease last for `forMs` from now on, unless another holder has it. */
    async renewLease({ name, number }: Fence, forMs: number): Promise<void> {
      // A node that stops between the two writes a time that is too early, which is harmless.
      const until = (await database.now()) + forMs;
      await database.query('UPDATE leases SET until = ? WHERE name = ? AND fence = ?', until, name, number);
    },
    async giveLeaseBack(name: string, holder: string): Promise<void> {
      await database.query('UPDATE leases SET until = 0 WHERE name = ? AND holder = ?', name, holder);
    },
    /**
     * Records that a node is running now. If no node was running for `minGapMs` or longer, every lease of an upload is extended by that
     * gap, in the same transaction. Returns the gap.
     */
    noteAlive: (minGapMs: number): Promise<number> =>
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

/** Checks a transaction against its lease, which no other node can take before the transaction has ended. */
export async function checkFence(
  { dialect }: SqlDatabase,
  { query }: SqlSession,
  fence: Fence | undefined,
): Promise<void> {
  if (fence === undefined) return;
  const held = `SELECT fence FROM leases WHERE name = ? AND fence = ?${dialect.forUpdate}`;
  if ((await query(held, fence.name, fence.number)).length === 0) throw new LeaseLost(fence);
}

/** Extends the leases of every buffer in which a device may wait. */
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
