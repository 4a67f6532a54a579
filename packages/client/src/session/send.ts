/**
 * Sends the upload of the device and takes the server's answer: a new one, or the stored one after a crash. Each step is durable before its
 * bytes leave.
 */
import { toHex } from '@basa/masking';
import { type Refused, refused } from '@basa/protocol';
import { type ProblemCode, Problems, SERVER_PATH } from '@basa/protocol/http';
import { DeviceRole } from '@basa/protocol/one-shot';
import { ShotUpload, uploadNameOf } from '@basa/protocol/wire';
import { AnswerError, ProblemError } from '../errors.ts';
import type { ServerClient, UploadPiece } from '../services/server-client.ts';
import type { DeviceContext } from './context.ts';
import { type Contribution, type Meter, type Rejection, refusalOf, rejected, type Step } from './results.ts';

interface Upload extends Omit<UploadPiece, 'offset' | 'piece'> {
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
async function uploadInPieces(server: ServerClient, upload: Upload): Promise<void> {
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

async function sendShot(
  { events, outside, pieceBytes, server, task }: DeviceContext,
  { upload, body, isResumed }: Extract<DeviceRole.ContributeRequest, { kind: 'shot' }>,
  signal: AbortSignal,
): Promise<void> {
  await uploadInPieces(server, {
    target: SERVER_PATH.shot(task, uploadNameOf(outside.suite, upload.header)),
    header: ShotUpload.encode(upload),
    body,
    isResumed,
    signal,
    pieceBytes,
    onProgress: (bytes) => events.emit('progress', { step: 'upload', sent: bytes, total: body.length }),
    sleep: outside.sleep,
  });
}

class SessionDriver {
  readonly #context: DeviceContext;
  readonly #signal: AbortSignal;
  /** x' of a new update, which masking overwrites. */
  #input: Uint32Array | undefined;
  /** The names of the upload. */
  given: Pick<Contribution, 'ctx' | 'joinTag'> = { ctx: '', joinTag: '' };
  /** A service's problem that ends the session. */
  problem: ProblemError | undefined;

  constructor(context: DeviceContext, signal: AbortSignal, input?: Uint32Array) {
    this.#context = context;
    this.#signal = signal;
    this.#input = input;
  }

  /** Throws if there is no answer yet: the session stays as it is. */
  async answer(request: DeviceRole.ContributeRequest): Promise<DeviceRole.ContributeAnswer> {
    const { outside, state } = this.#context;
    switch (request.kind) {
      case 'sign':
        return await state.signer.sign(request.statement);
      case 'durable':
        await state.take(request.step, request.body);
        return undefined;
      case 'body':
        return await state.body();
      case 'keys': {
        const { suite, x25519 } = outside;
        return await DeviceRole.agreeOnKeys(x25519 ?? { key: (secret) => suite.x25519(secret) }, request.work);
      }
      case 'input':
        if (this.#input === undefined) throw new Error('the update was masked before');
        return this.#input;
      case 'mask':
        await outside.mask(request.masking.vector, request.masking.plan, this.#signal);
        this.#signal.throwIfAborted();
        this.#input = undefined;
        return undefined;
      case 'shot': {
        const { header } = request.upload;
        this.given = { ctx: toHex(uploadNameOf(outside.suite, header)), joinTag: toHex(header.joinTag) };
        return await this.#refusable(async () => {
          await sendShot(this.#context, request, this.#signal);
          return { kind: 'accepted' };
        });
      }
    }
  }

  /** If the update was not masked, for example after an abort. */
  wipe(): void {
    this.#input?.fill(0);
    this.#input = undefined;
  }

  /** A refusal of the protocol is an answer; any other error is rethrown. */
  async #refusable<Answer>(asked: () => Promise<Answer>): Promise<Answer | Refused> {
    try {
      return await asked();
    } catch (error) {
      const reason = refusalOf(error);
      if (reason === undefined || !(error instanceof ProblemError)) throw error;
      this.problem = error;
      return refused(reason);
    }
  }
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
  const driver = new SessionDriver(context, signal, shot?.input);
  const device = { ledger: state.ledger, session: state.session };
  const steps =
    shot === undefined
      ? DeviceRole.resumeShot(outside, device, outside.now())
      : DeviceRole.giveShot(outside, device, shot.given);
  const end = await drive(steps, driver, meter)
    .catch((error: unknown) => waitingEnd(context, error))
    .finally(() => driver.wipe());
  switch (end.kind) {
    case 'waiting':
      return rejected(end.problem.code as ProblemCode, 'given', end.problem);
    case 'acknowledged':
      return { kind: 'accepted', ...driver.given, costs: meter.costs };
    case 'left':
      return rejected(end.reason, 'free', driver.problem);
    case 'refused':
      await state.dropSession();
      return rejected(end.reason, 'given', driver.problem);
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

async function drive(
  steps: ReturnType<typeof DeviceRole.giveShot>,
  driver: SessionDriver,
  meter: Meter,
): Promise<DeviceRole.ContributeEnd> {
  let next = steps.next();
  let phase: Step = 'mask';
  while (!next.done) {
    const { value: request } = next;
    phase = phaseOf(request, phase);
    next = await meter.measure(phase, async () => steps.next(await driver.answer(request)));
  }
  return next.value;
}

/** The step that a request is charged to: the upload begins with what is stored. */
function phaseOf(request: DeviceRole.ContributeRequest, before: Step): Step {
  return request.kind === 'durable' || request.kind === 'body' ? 'upload' : before;
}
