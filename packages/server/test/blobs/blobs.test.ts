import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPostgres } from '@basa/service';
import { type TestPostgres, testPostgres } from '@basa/testkit/processes/test-postgres.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Staging, wordPieces } from '../../src/blobs/blob-store.ts';
import { openChunkedBlobs } from '../../src/blobs/chunked.ts';
import { openFileBlobs } from '../../src/blobs/files.ts';
import { databaseChunks } from '../../src/blobs/rows.ts';
import { WriteBehind } from '../../src/blobs/write-behind.ts';
import { SERVER_DATABASE } from '../../src/store/schema.ts';
import { type BlobPlace, testBlobs, testSharedBlobs } from '../support/blob-conformance.ts';

testBlobs('files', async () => {
  const root = mkdtempSync(join(tmpdir(), 'basa-blobs-'));
  let count = 0;
  return {
    fresh: async () => void count++,
    open: () => openFileBlobs(join(root, String(count))),
    async end() {
      expect(existsSync(join(root, 'a'))).toBe(false);
      rmSync(root, { recursive: true });
    },
  };
});

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await testPostgres();
});
afterAll(() => postgres.remove());

async function inDatabase(): Promise<BlobPlace> {
  const url = await postgres.database('blobs');
  const database = await openPostgres({ url, ...SERVER_DATABASE });
  return {
    async fresh() {
      await database.transaction((session) => session.query('DELETE FROM chunks'));
    },
    open: async () => openChunkedBlobs(databaseChunks(database), { chunkBytes: 256 * 1024 }),
    end: () => database.close(),
  };
}
testBlobs('PostgreSQL', inDatabase);
testSharedBlobs('PostgreSQL', inDatabase);

it('writing behind reports an error of an earlier write to the writer', async () => {
  const full = async (): Promise<void> => {
    throw new Error('the disk is full');
  };
  const behind = new WriteBehind({ append: full } as unknown as Staging);
  await expect(
    (async () => {
      for (let n = 0; n < 3; n++) await behind.add(new Uint8Array(600_000));
    })(),
  ).rejects.toThrow('the disk is full');
  await expect(behind.end()).rejects.toThrow('the disk is full');
});

it('bytes become words whatever pieces they come in', async () => {
  const pieces = async function* () {
    yield Uint8Array.of(1, 0, 0);
    yield Uint8Array.of(0, 2, 0, 0, 0, 3);
    yield Uint8Array.of(0, 0, 0);
    yield Uint8Array.of(4, 0, 0, 0, 5, 0, 0, 0);
    yield Uint8Array.of(9, 6, 0, 0, 0).subarray(1);
  };
  const words: number[] = [];
  for await (const block of wordPieces(pieces())) words.push(...block);
  expect(words).toEqual([1, 2, 3, 4, 5, 6]);
});
