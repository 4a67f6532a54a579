/** The requests of a server to an authority, and its answers. */
import { concatBytes, equalBytes, type Signer } from '@basa/masking';
import type { TaskId, UserId } from '@basa/protocol';
import { AUTHORITY_PATH } from '@basa/protocol/http';
import { TaskPolicy } from '@basa/protocol/policy';
import {
  BatchVoteRequest,
  type Codec,
  Devices,
  type Epoch,
  InspectAnswer,
  InspectRequest,
  isSigned,
  LiveEpochs,
  ReleaseAnswer,
  ReleaseRequest,
  unframeHeader,
  Vote,
} from '@basa/protocol/wire';
import { AuthorityHttp, type AuthorityHttpOptions, AuthorityUnreachable, type Question } from './authority-http.ts';

/** A request before it is signed. */
export type Unsigned<Request> = Omit<Request, 'signature'>;

/** The additional time for each upload that an authority inspects, or that is in a batch it votes for. */
const UPLOAD_MS = 5;
/** The additional time for each byte in transit: one mebibyte per second is slow. */
const BYTE_MS = 1e-3;

/** The requests of a server to an authority. */
export class AuthorityLink {
  readonly #options: AuthorityHttpOptions;
  readonly #http: AuthorityHttp;

  constructor(options: AuthorityHttpOptions) {
    this.#options = options;
    this.#http = new AuthorityHttp(options);
  }

  get url(): string {
    return this.#options.url;
  }

  get publicKey(): Uint8Array {
    return this.#options.publicKey;
  }

  async policy(task: TaskId): Promise<TaskPolicy> {
    return TaskPolicy.decode(await this.#get('policy', AUTHORITY_PATH.policy(task)));
  }

  /** All devices that it has revoked. */
  async revocations(): Promise<readonly UserId[]> {
    const told = Devices.Revocations.decode(await this.#get('revocations', AUTHORITY_PATH.revocations));
    const { ports, publicKey } = this.#options;
    if (isSigned(ports.suite, Devices.Revocations, told, publicKey)) return told.users;
    throw new AuthorityUnreachable('it sent a list of revocations that is not its own');
  }

  /** One-shot: its epochs that uploads may name now. */
  async epochs(task: TaskId): Promise<readonly Epoch[]> {
    return LiveEpochs.decode(await this.#get('epochs', AUTHORITY_PATH.epochs(task))).epochs;
  }

  /** One-shot: returns its verdicts on uploads, without their vectors. */
  async inspect(body: Unsigned<InspectRequest>): Promise<InspectAnswer> {
    const bytes = InspectRequest.encode({ ...body, signature: this.#sign(InspectRequest.statement(body)) });
    const path = AUTHORITY_PATH.inspections(body.task);
    const answer = await this.#postLong('inspect', path, bytes, InspectAnswer, body.uploads.length);
    const { ports, publicKey } = this.#options;
    const isItsOwn = isSigned(ports.suite, InspectAnswer, answer, publicKey);
    if (isItsOwn && equalBytes(answer.task, body.task)) return answer;
    throw new AuthorityUnreachable('it did not sign its verdicts, or they belong to another task');
  }

  async voteForBatch(body: Unsigned<BatchVoteRequest>): Promise<Vote> {
    const { task, uploads } = body.batch;
    const signature = this.#sign(BatchVoteRequest.statement(body));
    const bytes = BatchVoteRequest.encode({ ...body, signature });
    const path = AUTHORITY_PATH.batchVotes(task);
    return this.#postLong('vote', path, bytes, Vote, uploads.length);
  }

  /**
   * One-shot: the sums of masks of a batch that is voted for. `take` receives the answer, then the requested vectors,
   * one after the other as they come, each of `vectorBytes`.
   */
  async release(body: Unsigned<ReleaseRequest>, take: TakeRelease, limits: ReleaseLimits): Promise<void> {
    const bytes = ReleaseRequest.encode({ ...body, signature: this.#sign(ReleaseRequest.statement(body)) });
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

/** The consumer of an answer. */
export interface TakeRelease {
  /** Throws if the answer is useless. Returns the number of vectors that follow it. */
  answer(answer: ReleaseAnswer): Promise<number>;
  /** A piece of the vector with this number, valid until the promise is fulfilled. */
  piece(vector: number, bytes: Uint8Array): Promise<void>;
}

export interface ReleaseLimits {
  readonly vectorBytes: number;
  /** The time that the answer may take beyond the usual time of a request. */
  readonly extraMs: number;
}

/** The length, before the answer itself. */
const LENGTH_BYTES = 4;
/** Fits every answer before its vectors. */
const MAX_HEAD_BYTES = 64 * 1024;
const FRAME_ALIGNMENT = 64;

/** Reads the sums of masks that an authority releases as they arrive: no vector is in memory as a whole. */
async function readRelease(
  { body }: Pick<Response, 'body'>,
  take: TakeRelease,
  vectorBytes: number,
): Promise<Uint8Array> {
  let head: Uint8Array = new Uint8Array();
  let vectors: VectorPieces | undefined;
  for await (const part of body ?? []) {
    if (vectors !== undefined) {
      await vectors.add(part);
      continue;
    }
    head = concatBytes(head, part);
    const headBytes = framedBytes(head);
    if (headBytes === undefined || head.length < headBytes) continue;
    const { header } = unframeHeader(head.subarray(0, headBytes), MAX_HEAD_BYTES);
    vectors = new VectorPieces(take, vectorBytes, await take.answer(ReleaseAnswer.decode(header)));
    await vectors.add(head.subarray(headBytes));
  }
  if (vectors === undefined || !vectors.isWhole) throw new Error('the sums of masks were cut off');
  return new Uint8Array();
}

/** Returns the length of the head; undefined until it is known. Throws if it is too long. */
function framedBytes(head: Uint8Array): number | undefined {
  if (head.length < LENGTH_BYTES) return undefined;
  const length = new DataView(head.buffer, head.byteOffset).getUint32(0, true);
  if (length > MAX_HEAD_BYTES) throw new Error(`an answer of ${length} bytes before the sums of masks`);
  return Math.ceil((LENGTH_BYTES + length) / FRAME_ALIGNMENT) * FRAME_ALIGNMENT;
}

class VectorPieces {
  readonly #take: TakeRelease;
  readonly #vectorBytes: number;
  readonly #count: number;
  #read = 0;

  constructor(take: TakeRelease, vectorBytes: number, count: number) {
    this.#take = take;
    this.#vectorBytes = vectorBytes;
    this.#count = count;
  }

  get isWhole(): boolean {
    return this.#read === this.#count * this.#vectorBytes;
  }

  async add(bytes: Uint8Array): Promise<void> {
    for (let rest = bytes; rest.length > 0; ) {
      const vector = Math.floor(this.#read / this.#vectorBytes);
      if (vector >= this.#count) throw new Error('more bytes follow after the requested sums of masks');
      const taken = rest.subarray(0, this.#vectorBytes - (this.#read % this.#vectorBytes));
      await this.#take.piece(vector, taken);
      this.#read += taken.length;
      rest = rest.subarray(taken.length);
    }
  }
}
