/** Asks a service what a client never would, and holds its answers to docs/http.md. */
import type { Signer } from '@basa/masking';
import { PROBLEM_MEDIA_TYPE, type ProblemCode, problemCodeOf, problemDocument } from '@basa/protocol';
import type { Report } from '../report.ts';
import { signingDevice } from '../signing-device.ts';

export interface Told {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** The body, if it is JSON. */
  readonly json: Readonly<Record<string, unknown>>;
}

export interface Asking {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string | undefined;
}

export interface SignedAsking extends Asking {
  readonly signer: Signer;
  /** The signed bytes, if they differ from the body. */
  readonly signed?: Uint8Array | string;
  readonly nonce?: Uint8Array;
  /** The lead of the device's clock. */
  readonly aheadMs?: number;
  /** The key of another service. */
  readonly audience?: Uint8Array;
}

export interface ProbeOptions {
  readonly url: string;
  /** The public key of the service. */
  readonly audience: Uint8Array;
  readonly operatorToken: string;
  readonly report: Report;
  readonly signal: AbortSignal;
}

export class Probe {
  readonly #options: ProbeOptions;

  constructor(options: ProbeOptions) {
    this.#options = options;
  }

  get url(): string {
    return this.#options.url;
  }

  async ask(method: string, path: string, { headers = {}, body }: Asking = {}): Promise<Told> {
    const { url, signal } = this.#options;
    const type = typeof body === 'string' ? 'application/json' : 'application/octet-stream';
    const response = await fetch(new URL(path, url), {
      method,
      headers: { ...(body !== undefined && { 'content-type': type }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : body.slice() }),
      signal,
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    return { status: response.status, headers: response.headers, body: bytes, json: jsonOf(bytes) };
  }

  operate(method: string, path: string, body?: Asking['body']): Promise<Told> {
    return this.ask(method, path, { body, headers: { authorization: `Bearer ${this.#options.operatorToken}` } });
  }

  signed(method: string, path: string, asking: SignedAsking): Promise<Told> {
    const { signer, body, signed = body, nonce, aheadMs = 0, audience = this.#options.audience } = asking;
    const at = Date.now() + aheadMs;
    const words = { audience, method, target: path, body: signed, at, ...(nonce && { nonce }) };
    return this.ask(method, path, { body, headers: { ...signingDevice(signer).headers(words), ...asking.headers } });
  }

  /** Expects a refusal with this code: status, media type and document must agree. */
  refuses(name: string, told: Told, code: ProblemCode): void {
    const { status, type } = problemDocument(code);
    const media = told.headers.get('content-type') ?? 'no content type';
    const { title } = told.json;
    const holds =
      told.status === status &&
      media.startsWith(PROBLEM_MEDIA_TYPE) &&
      told.json['type'] === type &&
      told.json['status'] === status &&
      typeof title === 'string' &&
      title.length > 0;
    const expected = `${status} with a problem document of type ${type}`;
    this.#options.report.note(name, holds, { expected, seen: `${told.status} ${media} ${codeOf(told)}` });
  }

  /** A body that is too long: refused in words, or the connection ends while it is still being sent. */
  async refusesLong(name: string, asking: Promise<Told>): Promise<void> {
    const told = await asking.catch((error: unknown) => {
      this.#options.signal.throwIfAborted();
      return error instanceof TypeError ? undefined : Promise.reject(error);
    });
    if (told !== undefined) return this.refuses(name, told, 'body-too-large');
    this.#options.report.note(name, true, { expected: '413, or the connection ended', seen: 'the connection ended' });
  }

  notes(name: string, holds: boolean, expected: string, told: Told): void {
    const seen = `${told.status} ${codeOf(told)}, ${told.body.length} bytes`;
    this.#options.report.note(name, holds, { expected, seen });
  }
}

function codeOf({ json }: Told): string {
  return problemCodeOf(json) ?? 'without a problem';
}

function jsonOf(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
