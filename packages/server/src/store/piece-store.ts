/** Uploads that come in pieces. */
import type { Ctx, Slot } from '@basa/protocol';

interface UploadPiece {
  readonly bodyHash: Uint8Array;
  readonly received: number;
}

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

export interface PieceStore {
  /** What is durable of an upload that comes in several pieces, and of which body it is. */
  piece(ctx: Ctx, slot: Slot): Promise<UploadPiece | undefined>;
  setPiece(ctx: Ctx, slot: Slot, piece: UploadPiece): Promise<void>;
  /** From now on this attempt is the one whose end counts, whatever node an older one is still under way at. */
  claimPiece(ctx: Ctx, slot: Slot, bodyHash: Uint8Array, attempt: string): Promise<PieceClaim>;
  /** Records at the end of an attempt how much is durable, and where. Returns false where a newer attempt was made meanwhile. */
  settlePiece(ctx: Ctx, slot: Slot, attempt: string, stands: { received: number; staged: string }): Promise<boolean>;
}
