/** What a server asks of an authority, over HTTP. The newest head it saw goes with every request, and is kept. */
import { concatBytes, equalBytes, fromHex, toHex } from '@basa/masking';
import {
  AUTHORITY_PATH,
  type AuthorityStanding,
  abortRequestCodec,
  authorityMessages,
  type BatchVoteAnswer,
  type BatchVoteRequest,
  type BufferRequest,
  batchVoteAnswerCodec,
  batchVoteRequestCodec,
  bufferRequestCodec,
  type CloseAnswer,
  type CloseRequest,
  type Codec,
  type Ctx,
  type DrawnBuffer,
  decodePolicy,
  drawnBufferCodec,
  HEADER,
  type Head,
  headCodec,
  type InspectAnswer,
  type InspectRequest,
  inspectAnswerCodec,
  inspectRequestCodec,
  isSigned,
  type ModelAppend,
  type ModelEntry,
  modelAppendCodec,
  modelEntryCodec,
  type Offer,
  type Outcome,
  offerCodec,
  offerRequestCodec,
  outcomeCodec,
  type ProblemCode,
  problemCodeOf,
  type ReleaseRequest,
  type Revocations,
  releaseRequestCodec,
  revocationRequestCodec,
  revocationsCodec,
  type ServerPorts,
  standingCodec,
  type TaskId,
  type TaskPolicy,
} from '@basa/protocol';
import { traceHeaders } from '@basa/service';
import { type ReleaseLimits, readRelease, type TakeRelease } from './read-release.ts';

/** The authority said no. */
export class AuthorityRefusal extends Error {
  readonly code: ProblemCode | undefined;
  /** What it refused of a list. */
  readonly slots: readonly number[];
  constructor(code: ProblemCode | undefined, words: string, slots: readonly number[] = []) {
    super(`the authority refused: ${words}`);
    this.name = 'AuthorityRefusal';
    this.code = code;
    this.slots = slots;
  }
}

/** It does not answer, or not as an authority does. */
export class AuthorityUnreachable extends Error {
  constructor(why: string, options?: ErrorOptions) {
    super(`the authority does not answer: ${why}`, options);
    this.name = 'AuthorityUnreachable';
  }
}

/** What a question came to. */
export interface Asked {
  readonly question:
    | 'policy'
    | 'offer'
    | 'draw'
    | 'adopt'
    | 'log'
    | 'close'
    | 'abort'
    | 'outcome'
    | 'head'
    | 'revocations'
    | 'health'
    | 'standing'
    | 'inspect'
    | 'vote'
    | 'release';
  readonly seconds: number;
  /** It answered, be it with a no. */
  readonly isUp: boolean;
}

export interface AuthorityLinkOptions {
  readonly url: string;
  readonly publicKey: Uint8Array;
  readonly ports: ServerPorts;
  readonly timeoutMs: number;
  readonly fetch: typeof fetch;
  /** The newest head seen, kept across restarts. */
  readonly head: Uint8Array | undefined;
  keepHead(head: Uint8Array): Promise<void>;
  onAsked?(asked: Asked): void;
}

type Question = Asked['question'];

/** A request before it is signed. */
export type Unsigned<Request> = Omit<Request, 'signature'>;

/** How an answer is read, and how long it may take. */
interface Reading {
  read(response: Response): Promise<Uint8Array>;
  readonly timeoutMs: number;
}

export class AuthorityLink {
  readonly #options: AuthorityLinkOptions;
  /** One for each question under way. Not `AbortSignal.any`: what it ties to a signal that lives on stays there for ever. */
  readonly #asking = new Set<AbortController>();
  #isStopped = false;
  #head: Uint8Array | undefined;

  constructor(options: AuthorityLinkOptions) {
    this.#options = options;
    this.#head = options.head;
  }

  get publicKey(): Uint8Array {
    return this.#options.publicKey;
  }

  async policy(task: TaskId): Promise<TaskPolicy> {
    return decodePolicy(await this.#ask('policy', 'GET', AUTHORITY_PATH.policy(task)));
  }

  /** What it would bring to a buffer. */
  async offer(task: TaskId): Promise<Offer> {
    const body = { task };
    const bytes = offerRequestCodec.encode({ ...body, signature: this.#sign(offerRequestCodec.statement(body)) });
    return this.#post('offer', AUTHORITY_PATH.offers, bytes, offerCodec);
  }

  /** With its own list and signature alone. The same nonce gets the same buffer. */
  async drawBuffer(body: Omit<BufferRequest, 'signature'>): Promise<DrawnBuffer> {
    const bytes = bufferRequestCodec.encode({ ...body, signature: this.#sign(bufferRequestCodec.statement(body)) });
    return this.#post('draw', AUTHORITY_PATH.buffers, bytes, drawnBufferCodec);
  }

  async appendModel(append: Omit<ModelAppend, 'signature'>): Promise<ModelEntry> {
    const bytes = modelAppendCodec.encode({ ...append, signature: this.#sign(modelAppendCodec.statement(append)) });
    return this.#post('log', AUTHORITY_PATH.modelLog(append.task), bytes, modelEntryCodec);
  }

  /** Shows it a version that enough authorities signed. */
  async adoptModel(entry: ModelEntry): Promise<void> {
    await this.#ask('adopt', 'PUT', AUTHORITY_PATH.adoptedModel(entry.task), modelEntryCodec.encode(entry));
  }

  async close(request: CloseRequest, bufferSize: number): Promise<CloseAnswer> {
    const { closeRequest, closeAnswer } = authorityMessages(bufferSize);
    return this.#post('close', AUTHORITY_PATH.close(request.ctx), closeRequest.encode(request), closeAnswer);
  }

  /** Asks it to end a buffer that can never have enough updates. */
  async abort(ctx: Ctx): Promise<Outcome> {
    const signature = this.#sign(abortRequestCodec.statement({ ctx }));
    return this.#post('abort', AUTHORITY_PATH.abort(ctx), abortRequestCodec.encode({ ctx, signature }), outcomeCodec);
  }

  async outcome(ctx: Ctx): Promise<Outcome> {
    return outcomeCodec.decode(await this.#ask('outcome', 'GET', AUTHORITY_PATH.outcome(ctx)));
  }

  /** The newest head that was seen. */
  get head(): Head | undefined {
    return this.#head === undefined ? undefined : headCodec.decode(this.#head);
  }

  /** Asks for the newest head there is. */
  async look(): Promise<void> {
    await this.#ask('head', 'GET', AUTHORITY_PATH.about);
  }

  /** The devices of the task among some revocations after this number. */
  async revocations(task: TaskId, after: number): Promise<Revocations> {
    const body = { task, after };
    const signature = this.#sign(revocationRequestCodec.statement(body));
    const bytes = revocationRequestCodec.encode({ ...body, signature });
    const told = await this.#post('revocations', AUTHORITY_PATH.taskRevocations(task), bytes, revocationsCodec);
    const { ports, publicKey } = this.#options;
    const isGood =
      isSigned(ports.suite, revocationsCodec, told, publicKey) && equalBytes(told.task, task) && told.after === after;
    if (!isGood) throw new AuthorityUnreachable('it told revocations that are not its own or not those asked for');
    return told;
  }

  /** One-shot: the epoch that devices seal to, and the newest model that it knows. */
  async standing(task: TaskId): Promise<AuthorityStanding> {
    return standingCodec.decode(await this.#ask('standing', 'GET', AUTHORITY_PATH.standing(task)));
  }

  /** One-shot: what it makes of uploads, without their vectors. */
  async inspect(body: Unsigned<InspectRequest>): Promise<InspectAnswer> {
    const bytes = inspectRequestCodec.encode({ ...body, signature: this.#sign(inspectRequestCodec.statement(body)) });
    const answer = await this.#post('inspect', AUTHORITY_PATH.inspections(body.task), bytes, inspectAnswerCodec);
    const { ports, publicKey } = this.#options;
    if (isSigned(ports.suite, inspectAnswerCodec, answer, publicKey) && equalBytes(answer.task, body.task))
      return answer;
    throw new AuthorityUnreachable('its verdicts are not signed by it, or are of another task');
  }

  async voteForBatch(body: Unsigned<BatchVoteRequest>): Promise<BatchVoteAnswer> {
    const { task } = body.batch;
    const signature = this.#sign(batchVoteRequestCodec.statement(body));
    const bytes = batchVoteRequestCodec.encode({ ...body, signature });
    return this.#post('vote', AUTHORITY_PATH.batchVotes(task), bytes, batchVoteAnswerCodec);
  }

  /**
   * One-shot: the sums of masks of a batch that is voted for. `take` is given the answer, then the vectors that were asked for, one after
   * the other as they come, each of `vectorBytes`.
   */
  async release(body: Unsigned<ReleaseRequest>, take: TakeRelease, limits: ReleaseLimits): Promise<void> {
    const bytes = releaseRequestCodec.encode({ ...body, signature: this.#sign(releaseRequestCodec.statement(body)) });
    const path = AUTHORITY_PATH.releases(body.batch.task);
    const read = (response: Response): Promise<Uint8Array> => readRelease(response, take, limits.vectorBytes);
    await this.#ask('release', 'POST', path, bytes, { read, timeoutMs: this.#options.timeoutMs + limits.extraMs });
  }

  /** Throws where it does not answer. */
  async health(): Promise<void> {
    await this.#ask('health', 'GET', '/v1/health');
  }

  /** Ends what is asked, and everything asked from now on. */
  stop(): void {
    this.#isStopped = true;
    for (const asking of this.#asking) asking.abort(new Error('the server stops'));
  }

  #sign(statement: Uint8Array): Uint8Array {
    return this.#options.ports.signer.sign(statement);
  }

  async #post<T>(question: Question, path: string, body: Uint8Array, codec: Codec<T>): Promise<T> {
    return codec.decode(await this.#ask(question, 'POST', path, body));
  }

  async #ask(
    question: Question,
    method: string,
    path: string,
    body?: Uint8Array,
    { read = bodyOf, timeoutMs = this.#options.timeoutMs }: Partial<Reading> = {},
  ): Promise<Uint8Array> {
    const start = performance.now();
    const tell = (isUp: boolean): void =>
      this.#options.onAsked?.({ question, seconds: (performance.now() - start) / 1000, isUp });
    const asking = new AbortController();
    const { signal } = asking;
    const timer = setTimeout(() => asking.abort(new Error('it took too long')), timeoutMs);
    this.#asking.add(asking);
    if (this.#isStopped) this.stop();
    try {
      const answer = await this.#answer(path, { method, signal, ...(body && { body: body.slice() }) }, read);
      tell(true);
      return answer;
    } catch (error) {
      tell(!(error instanceof AuthorityUnreachable));
      throw error;
    } finally {
      clearTimeout(timer);
      this.#asking.delete(asking);
    }
  }

  async #answer(path: string, question: RequestInit, read: Reading['read']): Promise<Uint8Array> {
    const { url, fetch } = this.#options;
    const headers: Record<string, string> = { 'content-type': 'application/octet-stream', ...traceHeaders() };
    if (this.#head !== undefined) headers[HEADER.head] = toHex(this.#head);
    let response: Response;
    let body: Uint8Array;
    try {
      response = await fetch(new URL(path, url), { ...question, headers, redirect: 'error' });
      await this.#meetHead(response);
      body = await (response.ok ? read : bodyOf)(response);
    } catch (error) {
      throw new AuthorityUnreachable(error instanceof Error ? error.message : 'no reason given', { cause: error });
    }
    if (response.ok) return body;
    const problem = problemIn(body);
    const words = [problem.title, problem.detail].filter((part) => typeof part === 'string').join(' ');
    if (response.status >= 500 || response.status === 429)
      throw new AuthorityUnreachable(words || `${response.status}`);
    throw new AuthorityRefusal(problemCodeOf(problem), words || `${response.status}`, slotsIn(problem));
  }

  /** Keeps a head that is further than the one kept; one of another branch replaces it. */
  async #meetHead(response: Response): Promise<void> {
    const bytes = fromHex(response.headers.get(HEADER.head) ?? '');
    if (bytes === undefined || bytes.length === 0) return;
    const seen = headCodec.decode(bytes);
    const { ports, publicKey } = this.#options;
    if (!isSigned(ports.suite, headCodec, seen, publicKey))
      throw new Error('a head that is not signed by the authority');
    if (!isFurther(bytes, this.#head)) return;
    this.#head = bytes;
    await this.#options.keepHead(bytes);
  }
}

/** More than any answer has: the largest are lists of slot keys, and keys at a close. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** Throws where it goes on and on: an authority must not fill the memory of the server. */
async function bodyOf({ body }: Response): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body ?? []) {
    length += part.length;
    if (length > MAX_ANSWER_BYTES) throw new Error(`its answer has more than ${MAX_ANSWER_BYTES} bytes`);
    parts.push(part);
  }
  return concatBytes(...parts);
}

type Problem = { type?: unknown; title?: unknown; detail?: unknown; slots?: unknown };

function slotsIn({ slots }: Problem): readonly number[] {
  return Array.isArray(slots) ? slots.filter((slot) => Number.isInteger(slot)) : [];
}

function problemIn(body: Uint8Array): Problem {
  try {
    return Object(JSON.parse(new TextDecoder().decode(body)));
  } catch {
    return {};
  }
}

/** Whether a head is to be kept instead of the known one: it is further, or of another branch. */
export function isFurther(head: Uint8Array, known: Uint8Array | undefined): boolean {
  if (known === undefined) return true;
  const [seen, before] = [headCodec.decode(head), headCodec.decode(known)];
  return toHex(before.branch) !== toHex(seen.branch) || seen.sequence > before.sequence;
}
