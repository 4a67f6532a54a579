/** What all tables share: inserting many rows, and the leases under which a node writes. */
import { column, type SqlDatabase, type SqlSession, type SqlValue } from '@basa/service';

/** With four values each, far below the limit of a database. */
const MAX_ROWS = 256;

/** `into`: a table and its columns, `inboxes (ctx, to_slot)`. `end`: what follows the values. */
export async function insertRows(
  session: SqlSession,
  into: string,
  rows: readonly (readonly SqlValue[])[],
  end = '',
): Promise<void> {
  for (const some of inChunks(rows)) {
    const values = some.map((row) => `(${marksFor(row)})`).join(', ');
    await session.query(`INSERT INTO ${into} VALUES ${values}${end}`, ...some.flat());
  }
}

/** Yields the items in their order, as many at a time as one statement takes. */
export function* inChunks<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let at = 0; at < items.length; ) {
    const count = Math.min(MAX_ROWS, 2 ** Math.floor(Math.log2(items.length - at)));
    yield items.slice(at, at + count);
    at += count;
  }
}

/** A question mark for each of the values. */
export function marksFor(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}

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
