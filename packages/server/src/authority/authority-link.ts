/** The requests of a server to an authority. */
import { equalBytes, type Signer } from '@basa/masking';
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
  type Council,
  type Ctx,
  type DrawnBuffer,
  decodePolicy,
  drawnBufferCodec,
  type EnrolledFor,
  type Head,
  type InspectAnswer,
  type InspectRequest,
  inspectAnswerCodec,
  inspectRequestCodec,
  isSignedInTerm,
  type ModelAppend,
  type ModelEntry,
  modelAppendCodec,
  modelEntryCodec,
  type Offer,
  type Outcome,
  offerCodec,
  offerRequestCodec,
  outcomeCodec,
  type ReleaseRequest,
  type Revocations,
  releaseRequestCodec,
  revocationRequestCodec,
  revocationsCodec,
  standingCodec,
  type TaskId,
  type TaskPolicy,
} from '@basa/protocol';
import { AuthorityHttp, type AuthorityHttpOptions, AuthorityUnreachable, type Question } from './authority-http.ts';
import { type ReleaseLimits, readRelease, type TakeRelease } from './read-release.ts';

/** A request before it is signed. */
export type Unsigned<Request> = Omit<Request, 'signature'>;

/** The additional time for each upload that an authority inspects, or that is in a batch it votes for. */
const UPLOAD_MS = 5;
/** The additional time for each byte in transit: one mebibyte per second is slow. */
const BYTE_MS = 1e-3;

export class AuthorityLink {
  readonly #options: AuthorityHttpOptions;
  readonly #http: AuthorityHttp;

  constructor(options: AuthorityHttpOptions, http: AuthorityHttp = new AuthorityHttp(options)) {
    this.#options = options;
    this.#http = http;
  }

  /** The same link, for a task in which the server signs with this key. */
  signedBy(signer: Signer): AuthorityLink {
    return new AuthorityLink({ ...this.#options, ports: { ...this.#options.ports, signer } }, this.#http);
  }

  get publicKey(): Uint8Array {
    return this.#options.publicKey;
  }

  async policy(task: TaskId): Promise<TaskPolicy> {
    return decodePolicy(await this.#get('policy', AUTHORITY_PATH.policy(task)));
  }

  /** Returns its offer for a buffer. */
  async offer(task: TaskId): Promise<Offer> {
    const body = { task };
    const bytes = offerRequestCodec.encode({ ...body, signature: this.#sign(offerRequestCodec.statement(body)) });
    return this.#post('offer', AUTHORITY_PATH.offers, bytes, offerCodec);
  }

  /** Draws with only its own list and signature. The same nonce gets the same buffer. */
  async drawBuffer(body: Omit<BufferRequest, 'signature'>): Promise<DrawnBuffer> {
    const bytes = bufferRequestCodec.encode({ ...body, signature: this.#sign(bufferRequestCodec.statement(body)) });
    return this.#post('draw', AUTHORITY_PATH.buffers, bytes, drawnBufferCodec);
  }

  async appendModel(append: Omit<ModelAppend, 'signature'>): Promise<ModelEntry> {
    const bytes = modelAppendCodec.encode({ ...append, signature: this.#sign(modelAppendCodec.statement(append)) });
    return this.#post('log', AUTHORITY_PATH.modelLog(append.task), bytes, modelEntryCodec);
  }

  /** Shows it a version that enough authorities signed; returns the newest one in its log. */
  async adoptModel(entry: ModelEntry): Promise<ModelEntry> {
    const path = AUTHORITY_PATH.adoptedModel(entry.task);
    const body = modelEntryCodec.encode(entry);
    return modelEntryCodec.decode(await this.#http.ask({ question: 'adopt', method: 'PUT', path, body }));
  }

  /** Shows it the newest version of an earlier term, which it signs again. */
  async renewModel(entry: ModelEntry): Promise<ModelEntry> {
    const path = AUTHORITY_PATH.renewedModel(entry.task);
    const body = modelEntryCodec.encode(entry);
    const signer = this.#signer;
    return modelEntryCodec.decode(await this.#http.ask({ question: 'renew', method: 'PUT', path, body, signer }));
  }

  async close(request: CloseRequest, bufferSize: number): Promise<CloseAnswer> {
    const { closeRequest, closeAnswer } = authorityMessages(bufferSize);
    const [path, body, signer] = [AUTHORITY_PATH.close(request.ctx), closeRequest.encode(request), this.#signer];
    return closeAnswer.decode(await this.#http.ask({ question: 'close', method: 'POST', path, body, signer }));
  }

  /** Asks it to end a buffer that can never have enough updates. */
  async abort(ctx: Ctx): Promise<Outcome> {
    const signature = this.#sign(abortRequestCodec.statement({ ctx }));
    return this.#post('abort', AUTHORITY_PATH.abort(ctx), abortRequestCodec.encode({ ctx, signature }), outcomeCodec);
  }

  async outcome(ctx: Ctx): Promise<Outcome> {
    return outcomeCodec.decode(await this.#get('outcome', AUTHORITY_PATH.outcome(ctx)));
  }

  /** The newest head that was seen. */
  get head(): Head | undefined {
    return this.#http.head;
  }

  /** Asks for the newest head there is. */
  async look(): Promise<void> {
    await this.#get('head', AUTHORITY_PATH.about);
  }

  /** The devices of the task among some revocations after this number. */
  async revocations({ task, ...council }: EnrolledFor, after: number): Promise<Revocations> {
    const body = { task, after };
    const signature = this.#sign(revocationRequestCodec.statement(body));
    const bytes = revocationRequestCodec.encode({ ...body, signature });
    const told = await this.#post('revocations', AUTHORITY_PATH.taskRevocations(task), bytes, revocationsCodec);
    const { ports, publicKey } = this.#options;
    const isGood =
      isSignedInTerm(ports.suite, revocationsCodec, council, told, publicKey) &&
      equalBytes(told.task, task) &&
      told.after === after;
    if (!isGood)
      throw new AuthorityUnreachable('it sent a list of revocations that is not its own, or not the requested one');
    return told;
  }

  /** One-shot: the epoch that devices seal to, and the newest model that it knows. */
  async standing(task: TaskId): Promise<AuthorityStanding> {
    return standingCodec.decode(await this.#get('standing', AUTHORITY_PATH.standing(task)));
  }

  /** One-shot: returns its verdicts on uploads, without their vectors. */
  async inspect(body: Unsigned<InspectRequest>, council: Council): Promise<InspectAnswer> {
    const bytes = inspectRequestCodec.encode({ ...body, signature: this.#sign(inspectRequestCodec.statement(body)) });
    const path = AUTHORITY_PATH.inspections(body.task);
    const answer = await this.#postLong('inspect', path, bytes, inspectAnswerCodec, body.uploads.length);
    const { ports, publicKey } = this.#options;
    const isItsOwn = isSignedInTerm(ports.suite, inspectAnswerCodec, council, answer, publicKey);
    if (isItsOwn && equalBytes(answer.task, body.task)) return answer;
    throw new AuthorityUnreachable('it did not sign its verdicts, or they belong to another task');
  }

  async voteForBatch(body: Unsigned<BatchVoteRequest>): Promise<BatchVoteAnswer> {
    const { task, uploads } = body.batch;
    const signature = this.#sign(batchVoteRequestCodec.statement(body));
    const bytes = batchVoteRequestCodec.encode({ ...body, signature });
    const path = AUTHORITY_PATH.batchVotes(task);
    return this.#postLong('vote', path, bytes, batchVoteAnswerCodec, uploads.length);
  }

  /**
   * One-shot: the sums of masks of a batch that is voted for. `take` receives the answer, then the requested vectors,
   * one after the other as they come, each of `vectorBytes`.
   */
  async release(body: Unsigned<ReleaseRequest>, take: TakeRelease, limits: ReleaseLimits): Promise<void> {
    const bytes = releaseRequestCodec.encode({ ...body, signature: this.#sign(releaseRequestCodec.statement(body)) });
    const path = AUTHORITY_PATH.releases(body.batch.task);
    const read = (response: Response): Promise<Uint8Array> => readRelease(response, take, limits.vectorBytes);
    const vectors = body.wanted.filter(({ vector }) => vector).length;
    const onTheWay = bytes.length + vectors * limits.vectorBytes;
    const timeoutMs = this.#options.timeoutMs + limits.extraMs + BYTE_MS * onTheWay;
    await this.#http.ask({
      question: 'release',
      method: 'POST',
      path,
      body: bytes,
      read,
      timeoutMs,
      signer: this.#signer,
    });
  }

  /** Throws if it does not answer. */
  async health(): Promise<void> {
    await this.#get('health', '/v1/health');
  }

  /** Ends all requests, present and future. */
  stop(): void {
    this.#http.stop();
  }

  #sign(statement: Uint8Array): Uint8Array {
    return this.#signer.sign(statement);
  }

  get #signer(): Signer {
    return this.#options.ports.signer;
  }

  async #post<T>(question: Question, path: string, body: Uint8Array, codec: Codec<T>): Promise<T> {
    return codec.decode(await this.#http.ask({ question, method: 'POST', path, body }));
  }

  /** Sends a request about this many uploads. */
  async #postLong<T>(question: Question, path: string, body: Uint8Array, codec: Codec<T>, uploads: number): Promise<T> {
    const timeoutMs = this.#options.timeoutMs + UPLOAD_MS * uploads + BYTE_MS * body.length;
    return codec.decode(
      await this.#http.ask({ question, method: 'POST', path, body, timeoutMs, signer: this.#signer }),
    );
  }

  #get(question: Question, path: string): Promise<Uint8Array> {
    return this.#http.ask({ question, method: 'GET', path });
  }
}
