/** Uploads in pieces over SQL: which attempt of which node is the one that counts. */
import { equalBytes } from '@basa/masking';
import { column, type SqlDatabase } from '@basa/service';
import type { PieceStore } from './piece-store.ts';

export function sqlPieces(database: SqlDatabase): PieceStore {
  const found = `SELECT * FROM pieces WHERE ctx = ? AND slot = ?`;
  const locked = found + database.dialect.forUpdate;
  return {
    piece: async (ctx, slot) =>
      (await database.query(found, ctx, slot)).map((row) => ({
        bodyHash: column.bytes(row, 'body_hash'),
        received: column.number(row, 'received'),
      }))[0],
    async setPiece(ctx, slot, { bodyHash, received }) {
      await database.query(
        `INSERT INTO pieces (ctx, slot, body_hash, received) VALUES (?, ?, ?, ?)
          ON CONFLICT (ctx, slot) DO UPDATE SET body_hash = excluded.body_hash, received = excluded.received`,
        ctx,
        slot,
        bodyHash,
        received,
      );
    },
    claimPiece: (ctx, slot, bodyHash, attempt) =>
      database.transaction(async ({ query }) => {
        await query(
          'INSERT INTO pieces (ctx, slot, body_hash, received) VALUES (?, ?, ?, 0) ON CONFLICT (ctx, slot) DO NOTHING',
          ctx,
          slot,
          bodyHash,
        );
        const [row] = await query(locked, ctx, slot);
        if (row === undefined) throw new Error('a piece that was just written is not there');
        const before = {
          bodyHash: column.bytes(row, 'body_hash'),
          staged: column.optional(row, 'staged', column.text),
        };
        const isSame = equalBytes(before.bodyHash, bodyHash);
        const received = isSame ? column.number(row, 'received') : 0;
        const staged = received === 0 ? undefined : before.staged;
        const writer = column.optional(row, 'writer', column.text);
        await query(
          'UPDATE pieces SET body_hash = ?, received = ?, staged = ?, writer = ? WHERE ctx = ? AND slot = ?',
          bodyHash,
          received,
          staged ?? null,
          attempt,
          ctx,
          slot,
        );
        return {
          received,
          isOurs: writer === undefined || writer === attempt,
          ...(staged !== undefined && { staged }),
          ...(!isSame && before.staged !== undefined && { obsolete: { ...before, staged: before.staged } }),
        };
      }),
    settlePiece: (ctx, slot, attempt, { received, staged }) =>
      database.transaction(async ({ query }) => {
        const [row] = await query(locked, ctx, slot);
        if (row === undefined) return false;
        const writer = column.optional(row, 'writer', column.text);
        // Run again after a commit nobody knows of: it stands as it should.
        if (writer === undefined) return row['staged'] === staged && row['received'] === received;
        if (writer !== attempt) return false;
        await query(
          'UPDATE pieces SET received = ?, staged = ?, writer = NULL WHERE ctx = ? AND slot = ?',
          received,
          staged,
          ctx,
          slot,
        );
        return true;
      }),
  };
}
