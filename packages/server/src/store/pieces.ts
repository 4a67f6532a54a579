/** Uploads in pieces over SQL: which attempt of which node is the one that counts. */
import { equalBytes } from '@basa/masking';
import type { Ctx, Slot } from '@basa/protocol';
import { column, type SqlDatabase } from '@basa/service';

/** What an attempt to append a piece found. */
interface PieceClaim {
  /** How much of the body is durable. */
  readonly received: number;
  /** Where it lies; missing where nothing does. */
  readonly staged?: string;
  /** Nobody else writes there: it may be appended to. Else it is copied. */
  readonly isOurs: boolean;
  /** Another body of the slot, which is not wanted any more. */
  readonly obsolete?: { readonly bodyHash: Uint8Array; readonly staged: string };
}

export type PieceStore = ReturnType<typeof pieceTables>;

export function pieceTables(database: SqlDatabase) {
  const found = `SELECT * FROM pieces WHERE ctx = ? AND slot = ?`;
  const locked = found + database.dialect.forUpdate;
  return {
    /** Whether some of an upload came in pieces before; not to be told to its device. */
    hasPiece: async (ctx: Ctx, slot: Slot): Promise<boolean> => (await database.peek(found, ctx, slot)).length > 0,
    /** What is durable of an upload that comes in several pieces, and of which body it is. */
    piece: async (ctx: Ctx, slot: Slot) =>
      (await database.query(found, ctx, slot)).map((row) => ({
        bodyHash: column.bytes(row, 'body_hash'),
        received: column.number(row, 'received'),
      }))[0],
    /** From now on this attempt is the one whose end counts, whatever node an older one is still under way at. */
    claimPiece: (ctx: Ctx, slot: Slot, bodyHash: Uint8Array, attempt: string): Promise<PieceClaim> =>
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
    /** Records at the end of an attempt how much is durable, and where; nothing if that is nothing. Returns false where a newer attempt was made meanwhile. */
    settlePiece: (
      ctx: Ctx,
      slot: Slot,
      attempt: string,
      { received, staged }: { readonly received: number; readonly staged: string },
    ): Promise<boolean> =>
      database.transaction(async ({ query }) => {
        const [row] = await query(locked, ctx, slot);
        if (row === undefined) return received === 0;
        const writer = column.optional(row, 'writer', column.text);
        // Run again after a commit nobody knows of: it stands as it should.
        if (writer === undefined) return row['staged'] === staged && row['received'] === received;
        if (writer !== attempt) return false;
        if (received === 0) {
          await query('DELETE FROM pieces WHERE ctx = ? AND slot = ?', ctx, slot);
          return true;
        }
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
