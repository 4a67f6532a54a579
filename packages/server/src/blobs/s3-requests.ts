/** Signed requests to an S3-compatible store (path-style addresses), retried while it does not answer. */
import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';

export interface S3Options {
  /** https://s3.example.org */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The time for which a request is retried. */
  readonly patienceMs?: number;
  readonly fetch?: typeof fetch;
}

/** A refusal of the store, in its own words. */
export class S3Error extends Error {
  readonly status: number;

  constructor(status: number, text: string) {
    const [, code] = /<Code>([^<]*)<\/Code>/.exec(text) ?? [];
    super(`the object store answered ${status}${code === undefined ? '' : ` (${code})`}`);
    this.name = 'S3Error';
    this.status = status;
  }
}

export interface S3Request {
  readonly method: 'GET' | 'PUT' | 'HEAD' | 'DELETE';
  /** After the bucket; empty for the bucket itself. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

const PATIENCE_MS = 10_000;
const REQUEST_MS = 60_000;

export function s3Requests(options: S3Options): (request: S3Request) => Promise<Uint8Array | undefined> {
  const { endpoint, bucket, patienceMs = PATIENCE_MS, fetch: ask = fetch, ...credentials } = options;
  const keys = new Map<string, ArrayBuffer>(); // signing keys of the day, computed once

  const once = async ({ method, key, query, body }: S3Request): Promise<Response> => {
    const url = new URL(`${endpoint.replace(/\/$/, '')}/${bucket}/${key}`);
    for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
    // The store checks the received body against this hash.
    const digest = createHash('sha256')
      .update(body ?? '')
      .digest('hex');
    const headers = { 'x-amz-content-sha256': digest };
    const signed = await new AwsV4Signer({
      ...credentials,
      url: url.href,
      method,
      headers,
      service: 's3',
      cache: keys,
    }).sign();
    const signal = AbortSignal.timeout(REQUEST_MS);
    return ask(signed.url, {
      method,
      headers: signed.headers,
      signal,
      ...(body !== undefined && { body: body as BodyInit }),
    });
  };

  /** Returns the body of the answer; undefined if there is no object of this name. */
  return async (request) => {
    const giveUpAt = Date.now() + patienceMs;
    for (let tries = 0; ; tries++) {
      try {
        const response = await once(request);
        const bytes = new Uint8Array(await response.arrayBuffer());
        if (response.ok) return bytes;
        if (response.status === 404) return undefined;
        const error = new S3Error(response.status, new TextDecoder().decode(bytes));
        if (!isPassing(error) || Date.now() > giveUpAt) throw error;
      } catch (error) {
        if (error instanceof S3Error || Date.now() > giveUpAt) throw error;
      }
      await wait(Math.min(1_000, 20 * 2 ** tries) * (0.5 + Math.random()));
    }
  };
}

function isPassing({ status }: S3Error): boolean {
  return status >= 500 || status === 429 || status === 408;
}
