/** Many rows in few statements: by powers of two, so that there are few different ones to prepare. */
import type { SqlSession, SqlValue } from '@basa/service';

/** Four values each stay far below what a database takes at once. */
const MAX_ROWS = 256;

/** `into`: a table and its columns, `inboxes (ctx, to_slot)`. `end`: what follows the values. */
export async function insertRows(
  session: SqlSession,
  into: string,
  rows: readonly (readonly SqlValue[])[],
  end = '',
): Promise<void> {
  for (let at = 0; at < rows.length; ) {
    const count = Math.min(MAX_ROWS, 2 ** Math.floor(Math.log2(rows.length - at)));
    const some = rows.slice(at, at + count);
    const marks = some.map((row) => `(${row.map(() => '?').join(', ')})`).join(', ');
    await session.query(`INSERT INTO ${into} VALUES ${marks}${end}`, ...some.flat());
    at += count;
  }
}
