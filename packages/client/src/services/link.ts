/** The connection to one service: signs, digests, times out, retries, and turns answers into bytes or a `ProblemError`. */
import { concatBytes, crc32, type RandomBytes, type Suite } from '@basa/masking';
import type { Millis } from '@basa/protocol';
import { HEADER, pieceStatement, requestStatement, signatureHeaders } from '@basa/protocol/http';
import type { DeviceSigner } from '../device/store.ts';
import type { Outside } from '../outside.ts';
import { exchange, type RetryNotice, type RetryOptions, refusePlainHttp, retrying } from './attempts.ts';

interface Words {
  /** Public key of the service. */
  readonly audience: Uint8Array;
  readonly method: string;
  readonly target: string;
  readonly digest: Uint8Array;
  readonly at: Millis;
}

function digestOf(suite: Suite, body: Uint8Array | undefined): Uint8Array {
  return suite.sha256(body ?? new Uint8Array());
}

/** RFC 9530. */
function contentDigest(digest: Uint8Array): string {
  return `sha-256=:${btoa(String.fromCharCode(...digest))}:`;
}

async function signedHeaders(
  signer: DeviceSigner,
  randomBytes: RandomBytes,
  words: Words,
): Promise<Record<string, string>> {
  const statement = { ...words, nonce: randomBytes(16) };
  return signatureHeaders(signer.publicKey, statement, await signer.sign(requestStatement(statement)));
}

/** The words of a piece of an upload. */
interface PieceWords extends Pick<Words, 'audience' | 'target' | 'at'> {
  readonly offset: number;
  readonly length: number;
  readonly crc: number;
}

async function signedPieceHeaders(
  signer: DeviceSigner,
  randomBytes: RandomBytes,
  words: PieceWords,
): Promise<Record<string, string>> {
  const statement = { ...words, nonce: randomBytes(16) };
  const signature = await signer.sign(pieceStatement(statement));
  return {
    ...signatureHeaders(signer.publicKey, statement, signature),
    [HEADER.uploadOffset]: String(words.offset),
    [HEADER.crc]: words.crc.toString(16).padStart(8, '0'),
  };
}

export interface Call {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE';
  readonly target: string;
  readonly body?: Uint8Array;
  readonly type?: 'application/octet-stream' | 'application/json';
  readonly headers?: Readonly<Record<string, string>>;
  /** True if the device signs it. */
  readonly signed?: boolean;
  /** Of a piece of an upload, its place in the body: the device signs it with the length and the checksum. */
  readonly offset?: number;
  /** The largest number of bytes in an answer. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export interface Answered {
  readonly status: number;
  header(name: string): string | undefined;
  readonly body: Uint8Array;
}

export interface LinkOptions {
  /** Its name in messages. */
  readonly name: 'server' | 'authority';
  readonly url: string;
  /** Allows plain http to another machine. */
  readonly unsafeAllowPlainHttp?: boolean;
  /** Returns its public key, which signed requests name. */
  audience(): Uint8Array;
  readonly signer: DeviceSigner;
  readonly retry: RetryOptions;
  onRetry(notice: RetryNotice): void;
}

export class ServiceLink {
  readonly #outside: Outside;
  readonly #options: LinkOptions;
  readonly #origin: string;
  /** Bytes sent and received, bodies only. */
  readonly traffic = { sent: 0, received: 0 };

  constructor(outside: Outside, options: LinkOptions) {
    this.#outside = outside;
    this.#options = options;
    this.#origin = originOf(options);
  }

  get name(): string {
    return this.#options.name;
  }

  /** Sends one request and returns its answer; retries if that helps. */
  call(call: Call): Promise<Answered> {
    return this.retrying(call.signal, async () => {
      const parts: Uint8Array[] = [];
      const answer = await this.attempt(call, (chunk) => parts.push(chunk.slice()));
      return { ...answer, body: concatBytes(...parts) };
    });
  }

  retrying<T>(signal: AbortSignal, operation: (progressed: () => void) => Promise<T>): Promise<T> {
    const { options, onRetry } = { options: this.#options.retry, onRetry: this.#options.onRetry };
    return retrying(this.#outside, { service: `the ${this.name}`, options, signal, onRetry }, operation);
  }

  /** Makes one attempt; the body of a success goes to `sink` as it arrives. */
  async attempt(call: Call, sink: (chunk: Uint8Array, status: number) => void): Promise<Omit<Answered, 'body'>> {
    const { method, target, body, headers = {}, type = 'application/octet-stream', maxBytes, signal } = call;
    const { stopwatch, transport } = this.#outside;
    const signed = call.offset === undefined ? await this.#signed(call) : await this.#signedPiece(call, call.offset);
    const sentBytes = body?.length ?? 0;
    this.traffic.sent += sentBytes;
    return exchange(
      transport,
      {
        method,
        url: this.#origin + target,
        headers: { ...(body !== undefined && { 'content-type': type }), ...headers, ...signed },
        ...(body !== undefined && { body }),
        signal,
      },
      { timeoutMs: this.#options.retry.timeoutMs, sentBytes, maxBytes, service: `the ${this.name}`, stopwatch },
      (chunk, status) => {
        this.traffic.received += chunk.length;
        sink(chunk, status);
      },
    );
  }

  async #signed({ method, target, body, signed }: Call): Promise<Record<string, string>> {
    const { suite, randomBytes } = this.#outside;
    if (body === undefined && signed !== true) return {};
    const digest = digestOf(suite, body);
    const { signer } = this.#options;
    const words = { audience: this.#options.audience(), method, target, digest, at: this.#outside.now() };
    return {
      ...(body !== undefined && { [HEADER.digest]: contentDigest(digest) }),
      ...(signed && (await signedHeaders(signer, randomBytes, words))),
    };
  }

  #signedPiece({ target, body = new Uint8Array() }: Call, offset: number): Promise<Record<string, string>> {
    const { crc32: checksum = crc32, randomBytes } = this.#outside;
    const piece = { offset, length: body.length, crc: checksum(body) };
    const words = { audience: this.#options.audience(), target, at: this.#outside.now(), ...piece };
    return signedPieceHeaders(this.#options.signer, randomBytes, words);
  }
}

/** Signed requests name their path as sent, so a service must be at the root of its address. */
function originOf({ name, url, unsafeAllowPlainHttp }: LinkOptions): string {
  const { origin, pathname, protocol } = new URL(url);
  const isRoot = /^https?:$/.test(protocol) && pathname === '/';
  if (!isRoot)
    throw new RangeError(`the address of the ${name} must be http(s)://host[:port] without a path, got ${url}`);
  refusePlainHttp(name, url, { unsafeAllowPlainHttp });
  return origin;
}
