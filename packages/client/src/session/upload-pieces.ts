/** Sends a body piece by piece, from wherever the server has it durably: a lost connection costs one piece at most. */
import { AnswerError, ProblemError } from '../errors.ts';
import type { ServerClient, UploadPiece } from '../services/server-client.ts';

export interface Upload extends Omit<UploadPiece, 'offset' | 'piece'> {
  readonly body: Uint8Array;
  readonly pieceBytes: number;
  /** Whether some of it may be there already. */
  readonly isResumed: boolean;
  readonly signal: AbortSignal;
  onProgress(sent: number): void;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** A server that keeps changing its mind is not followed for ever. */
const MAX_TURNS = 32;
/** A piece that is under way is over by then. */
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
      // A whole piece counts or none of it: less would have the same bytes sent again and again.
      if (received < offset + Math.max(1, piece.length) && ++turns > MAX_TURNS) throw stuck(offset);
      offset = within(body, received);
    } catch (error) {
      // The answer to a piece got lost, or a piece did: the server says where it stands.
      if (!(error instanceof ProblemError) || error.uploadOffset === undefined) throw error;
      if (error.code !== 'offset-mismatch' || ++turns > MAX_TURNS) throw error;
      // A piece that is still under way, perhaps our own from before: what it comes to is known a little later.
      if (error.retryAfterMs !== undefined) await sleep(Math.min(error.retryAfterMs, LONGEST_WAIT_MS), signal);
      offset = within(body, error.uploadOffset);
    }
  }
}

function within(body: Uint8Array, offset: number): number {
  if (offset >= 0 && offset <= body.length) return offset;
  throw new AnswerError('the server', `byte ${offset} of an upload of ${body.length}`);
}

/** A no to this question carries no reason: the first piece will meet it again, with one. */
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
