/** Uploads in pieces over SQL: decides which attempt of which node counts. */
import type { Ctx } from '@basa/protocol';
import { column, type SqlDatabase } from '@basa/service';

/** The findings of an attempt to append a piece. */
export interface PieceClaim {
  /** The number of bytes of the body that are durable. */
  readonly received: number;
  /** The staging area that holds the bytes. Missing if there are no bytes. */
  readonly staged: string | undefined;
  /** No other attempt writes there, so it may be appended to. Otherwise it is copied. */
  readonly isOurs: boolean;
}

export type PieceStore = ReturnType<typeof pieceTables>;

export function pieceTables(database: SqlDatabase) {
  const found = `SELECT * FROM pieces WHERE name = ?`;
  const locked = found + database.dialect.forUpdate;
  return {
    /** True if a part of an upload came in pieces before; its device must not be told. */
    hasPiece: async (upload: Ctx): Promise<boolean> => (await database.peek(found, upload)).length > 0,
    /** The durable bytes of an upload that comes in several pieces. */
    async receivedOf(upload: Ctx): Promise<number> {
      const [row] = await database.query(found, upload);
      return row === undefined ? 0 : column.number(row, 'received');
    },
    /** From now on only the end of this attempt counts, even if an older one is still under way on some node. */
    claimPiece: (upload: Ctx, attempt: string): Promise<PieceClaim> =>
      database.transaction(async ({ query }) => {
        await query('INSERT INTO pieces (name, received) VALUES (?, 0) ON CONFLICT (name) DO NOTHING', upload);
        const [row] = await query(locked, upload);
        if (row === undefined) throw new Error('a piece that was just written is not there');
        const received = column.number(row, 'received');
        const staged = received === 0 ? undefined : column.optional(row, 'staged', column.text);
        const writer = column.optional(row, 'writer', column.text);
        await query('UPDATE pieces SET staged = ?, writer = ? WHERE name = ?', staged ?? null, attempt, upload);
        return { received, staged, isOurs: writer === undefined || writer === attempt };
      }),
    /**
     * Records the number of durable bytes at the end of an attempt and their staging area. Records nothing if there are no bytes. Returns
     * false if there is a newer attempt.
     */
    settlePiece: (
      upload: Ctx,
      attempt: string,
      { received, staged }: { readonly received: number; readonly staged: string },
    ): Promise<boolean> =>
      database.transaction(async ({ query }) => {
        const [row] = await query(locked, upload);
        if (row === undefined) return received === 0;
        const writer = column.optional(row, 'writer', column.text);
        // Run again after a commit with an unknown outcome: the record is already there.
        if (writer === undefined) return row['staged'] === staged && row['received'] === received;
        if (writer !== attempt) return false;
        if (received === 0) {
          await query('DELETE FROM pieces WHERE name = ?', upload);
          return true;
        }
        await query(
          'UPDATE pieces SET received = ?, staged = ?, writer = NULL WHERE name = ?',
          received,
          staged,
          upload,
        );
        return true;
      }),
  };
}
