/**
 * Sends the upload of the device and takes the server's answer: a new one, or the stored one after a crash. Each step is durable before its
 * bytes leave.
 */
import { toHex } from '@basa/masking';
import { isRefusalReason, refused } from '@basa/protocol';
import { type ProblemCode, Problems, SERVER_PATH } from '@basa/protocol/http';
import { DeviceRole } from '@basa/protocol/one-shot';
import { ShotUpload, uploadNameOf } from '@basa/protocol/wire';
import { AnswerError, ProblemError } from '../errors.ts';
import type { ServerClient, UploadPiece } from '../services/server-client.ts';
import type { DeviceContext } from './context.ts';
import { type Contribution, type Meter, type Rejection, rejected, type Step } from './results.ts';

/** The number of times the client follows a server that keeps changing its offset. */
const MAX_TURNS = 32;
/** A piece that is under way has ended by then. */
const LONGEST_WAIT_MS = 15_000;

/**
 * The only message of a contribution: the bytes that were frozen, piece by piece, from the server's durable offset on. A lost connection
 * costs at most one piece. Resolves once the server has all of it, durably.
 */
async function sendShot(
  { events, outside, pieceBytes, server, task }: DeviceContext,
  { upload, body, isResumed }: Extract<DeviceRole.ContributeRequest, { kind: 'shot' }>,
  signal: AbortSignal,
): Promise<void> {
  const target = SERVER_PATH.shot(task, uploadNameOf(outside.suite, upload.header));
  const name = { target, header: ShotUpload.encode(upload) };
  const tell = (sent: number): void => events.emit('progress', { step: 'upload', sent, total: body.length });
  let offset = isResumed ? within(body, await standing(server, name, signal)) : 0;
  for (let turns = 0; ; ) {
    tell(offset);
    const piece = body.subarray(offset, offset + pieceBytes);
    try {
      const { received, accepted } = await server.uploadPiece({ ...name, offset, piece }, signal);
      if (accepted) return tell(body.length);
      // Only a whole piece counts: with less the same bytes would be sent again and again.
      if (received < offset + Math.max(1, piece.length) && ++turns > MAX_TURNS) throw stuck(offset);
      offset = within(body, received);
    } catch (error) {
      // A piece, or the answer to it, was lost: the server reports its offset.
      if (!(error instanceof ProblemError) || error.uploadOffset === undefined) throw error;
      if (error.code !== 'offset-mismatch' || ++turns > MAX_TURNS) throw error;
      // A piece is still under way, perhaps an earlier one of ours: its result is known a little later.
      if (error.retryAfterMs !== undefined) await outside.sleep(Math.min(error.retryAfterMs, LONGEST_WAIT_MS), signal);
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

/** An update that begins its session here. */
export interface NewShot {
  readonly given: DeviceRole.ShotStart;
  /** x', which is masked in place. */
  readonly input: Uint32Array;
}

/**
 * Resolves with the result; throws if it is not decided yet, with the session kept. The session is also kept if the server takes the bytes
 * of an upload later, for example because the task is paused.
 */
export async function finishSession(
  context: DeviceContext,
  meter: Meter,
  signal: AbortSignal,
  shot?: NewShot,
): Promise<Contribution | Rejection> {
  const { outside, state } = context;
  const { suite, x25519 } = outside;
  let names: Pick<Contribution, 'ctx' | 'joinTag'> = { ctx: '', joinTag: '' };
  /** A service's problem that ends the session. */
  let problem: ProblemError | undefined;

  /** Throws if there is no answer yet: the session stays as it is. */
  const answer = async (request: DeviceRole.ContributeRequest): Promise<DeviceRole.ContributeAnswer> => {
    switch (request.kind) {
      case 'sign':
        return await state.signer.sign(request.statement);
      case 'durable':
        await state.take(request.step, request.body);
        return undefined;
      case 'body':
        return await state.body();
      case 'keys':
        return await DeviceRole.agreeOnKeys(x25519 ?? { key: (secret) => suite.x25519(secret) }, request.work);
      case 'input':
        if (shot === undefined) throw new Error('the update was masked before');
        return shot.input;
      case 'mask':
        await outside.mask(request.masking.vector, request.masking.plan, signal);
        signal.throwIfAborted();
        return undefined;
      case 'shot': {
        const { header } = request.upload;
        names = { ctx: toHex(uploadNameOf(suite, header)), joinTag: toHex(header.joinTag) };
        try {
          await sendShot(context, request, signal);
          return { kind: 'accepted' };
        } catch (error) {
          // A refusal of the protocol is an answer.
          if (!(error instanceof ProblemError) || !isRefusalReason(error.code)) throw error;
          problem = error;
          return refused(error.code);
        }
      }
    }
  };

  const device = { ledger: state.ledger, session: state.session };
  const steps =
    shot === undefined
      ? DeviceRole.resumeShot(outside, device, outside.now())
      : DeviceRole.giveShot(outside, device, shot.given);
  const end = await drive(steps, answer, meter)
    .catch((error: unknown) => waitingEnd(context, error))
    .finally(() => shot?.input.fill(0));
  switch (end.kind) {
    case 'waiting':
      return rejected(end.problem.code as ProblemCode, 'given', end.problem);
    case 'acknowledged':
      return { kind: 'accepted', ...names, costs: meter.costs };
    case 'left':
      return rejected(end.reason, 'free', problem);
    case 'refused':
      await state.dropSession();
      return rejected(end.reason, 'given', problem);
  }
}

/** Masking is charged until the bytes are stored, everything after it to the upload. */
async function drive(
  steps: ReturnType<typeof DeviceRole.giveShot>,
  answer: (request: DeviceRole.ContributeRequest) => Promise<DeviceRole.ContributeAnswer>,
  meter: Meter,
): Promise<DeviceRole.ContributeEnd> {
  try {
    let next = steps.next();
    for (let phase: Step = 'mask'; !next.done; ) {
      const request = next.value;
      if (request.kind === 'durable' || request.kind === 'body') phase = 'upload';
      next = await meter.measure(phase, async () => steps.next(await answer(request)));
    }
    return next.value;
  } finally {
    steps.return({ kind: 'left', reason: 'wrong-step' }); // It wipes its seeds, also if it was not finished.
  }
}

/** The bytes stay on the device, and `resume` sends them later. Rethrows anything else. */
function waitingEnd(
  { state }: DeviceContext,
  error: unknown,
): { readonly kind: 'waiting'; readonly problem: ProblemError } {
  const isOfUpload =
    state.session?.step === 'shot' && error instanceof ProblemError && error.code !== 'unknown-problem';
  if (!isOfUpload) throw error;
  const { about, retry, resend } = Problems.problemOf(error.code as ProblemCode);
  if (about !== 'update' || retry !== true || resend === true) throw error;
  return { kind: 'waiting', problem: error };
}
