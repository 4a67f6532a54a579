/** Chunks as objects of an S3-compatible store, which must be consistent: the next read sees every write. */

import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { StartError } from '@basa/service';
import { AwsV4Signer } from 'aws4fetch';
import type { ChunkStore } from './chunked.ts';

/** The number of objects removed in parallel. */
const SIDE_BY_SIDE = 16;

/** Throws a `StartError` if the bucket cannot be used. */
export async function openS3Chunks(options: S3Options): Promise<ChunkStore> {
  const ask = s3Requests(options);
  await checkBucket(options);
  return {
    async put(name, bytes) {
      const answer = await ask({ method: 'PUT', key: name, body: bytes });
      if (answer === undefined) throw new Error(`the bucket ${options.bucket} is gone`);
    },
    get: (name) => ask({ method: 'GET', key: name }),
    async list(prefix) {
      const names: string[] = [];
      for (let token: string | undefined = ''; token !== undefined; ) {
        const more = token === '' ? {} : { 'continuation-token': token };
        const answer = await ask({ method: 'GET', key: '', query: { 'list-type': '2', prefix, ...more } });
        const text = new TextDecoder().decode(answer ?? new Uint8Array());
        names.push(...[...text.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, name = '']) => name));
        const isCut = /<IsTruncated>true<\/IsTruncated>/.test(text);
        token = isCut ? /<NextContinuationToken>([^<]*)<\/NextContinuationToken>/.exec(text)?.[1] : undefined;
        if (isCut && token === undefined) throw new Error('the object store cut a list off without a token to go on');
      }
      return names;
    },
    async remove(names) {
      for (let at = 0; at < names.length; at += SIDE_BY_SIDE)
        await Promise.all(names.slice(at, at + SIDE_BY_SIDE).map((key) => ask({ method: 'DELETE', key })));
    },
    close: async () => {},
  };
}

async function checkBucket(options: S3Options): Promise<void> {
  const { endpoint, bucket } = options;
  const trouble = await s3Requests({ ...options, patienceMs: 0 })({ method: 'HEAD', key: '' }).then(
    (found) => (found === undefined ? 'it does not exist' : undefined),
    (error: unknown) => (error instanceof S3Error ? error.message : 'the store does not answer'),
  );
  if (trouble !== undefined)
    throw new StartError('dataFolder', `the bucket ${bucket} at ${endpoint} cannot be used: ${trouble}; check blobs`);
}

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
class S3Error extends Error {
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

/** Signed requests to an S3-compatible store (path-style addresses), retried while it does not answer. */
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
