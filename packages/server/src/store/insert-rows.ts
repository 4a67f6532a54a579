/** Inserts many rows in few statements: by powers of two, so that there are few different ones to prepare. */
import type { SqlSession, SqlValue } from '@basa/service';

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
