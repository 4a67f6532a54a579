/** Sends a body piece by piece, from the server's durable offset on: a lost connection costs at most one piece. */
import { AnswerError, ProblemError } from '../errors.ts';
import type { ServerClient, UploadPiece } from '../services/server-client.ts';

export interface Upload extends Omit<UploadPiece, 'offset' | 'piece'> {
  readonly body: Uint8Array;
  readonly pieceBytes: number;
  /** True if a part of it may already be on the server. */
  readonly isResumed: boolean;
  readonly signal: AbortSignal;
  onProgress(sent: number): void;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** The number of times the client follows a server that keeps changing its offset. */
const MAX_TURNS = 32;
/** A piece that is under way has ended by then. */
const LONGEST_WAIT_MS = 15_000;

/** Resolves once the server has all of it, durably. */
export async function uploadInPieces(server: ServerClient, upload: Upload): Promise<void> {
  const { body, pieceBytes, signal, onProgress, sleep, isResumed, ...name } = upload;
  let offset = isResumed ? within(body, await standing(server, name, signal)) : 0;
  for (let turns = 0; ; ) {
    onProgress(offset);
    const piece = body.subarray(offset, offset + pieceBytes);
    try {
      const { received, accepted } = await server.uploadPiece({ ...name, offset, piece }, signal);
      if (accepted) return onProgress(body.length);
      // Only a whole piece counts: with less the same bytes would be sent again and again.
      if (received < offset + Math.max(1, piece.length) && ++turns > MAX_TURNS) throw stuck(offset);
      offset = within(body, received);
    } catch (error) {
      // A piece, or the answer to it, was lost: the server reports its offset.
      if (!(error instanceof ProblemError) || error.uploadOffset === undefined) throw error;
      if (error.code !== 'offset-mismatch' || ++turns > MAX_TURNS) throw error;
      // A piece is still under way, perhaps an earlier one of ours: its result is known a little later.
      if (error.retryAfterMs !== undefined) await sleep(Math.min(error.retryAfterMs, LONGEST_WAIT_MS), signal);
      offset = within(body, error.uploadOffset);
    }
  }
}

function within(body: Uint8Array, offset: number): number {
  if (offset >= 0 && offset <= body.length) return offset;
  throw new AnswerError('the server', `byte ${offset} of an upload of ${body.length}`);
}

/** A refusal of this question carries no reason: the first piece will meet it again, with a reason. */
async function standing(
  server: ServerClient,
  name: Omit<UploadPiece, 'offset' | 'piece'>,
  signal: AbortSignal,
): Promise<number> {
  try {
    return await server.uploadOffset(name, signal);
  } catch (error) {
    if (error instanceof ProblemError) return 0;
    throw error;
  }
}

function stuck(offset: number): ProblemError {
  return new ProblemError({
    code: 'offset-mismatch',
    status: 409,
    title: `The server does not get beyond byte ${offset} of the upload.`,
  });
}
