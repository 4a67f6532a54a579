import { describe } from 'vitest';
import { openChunkedBlobs } from '../../src/blobs/chunked.ts';
import { openS3Chunks, s3Requests } from '../../src/blobs/s3.ts';
import { type BlobPlace, testBlobs, testSharedBlobs } from '../support/blob-conformance.ts';

/** Set by `npm run lab -- trial s3`, which starts a real object store. */
const STORE = process.env['BASA_TEST_S3'];

describe.skipIf(STORE === undefined)('an S3-compatible store', () => {
  let buckets = 0;
  const inBucket = async (): Promise<BlobPlace> => {
    const store = JSON.parse(STORE ?? '{}') as Parameters<typeof openS3Chunks>[0];
    let options = store;
    return {
      async fresh() {
        options = { ...store, bucket: `basa-${process.pid}-${buckets++}` };
        await s3Requests(options)({ method: 'PUT', key: '' });
      },
      open: async () => openChunkedBlobs(await openS3Chunks(options), { chunkBytes: 256 * 1024 }),
      end: async () => {},
    };
  };
  testBlobs('an object store', inBucket);
  testSharedBlobs('an object store', inBucket);
});
