/** Chunks as objects of an S3-compatible store, which must be consistent: the next read sees every write. */
import { StartError } from '@basa/service';
import type { ChunkStore } from './chunks.ts';
import { S3Error, type S3Options, s3Requests } from './s3-requests.ts';

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
