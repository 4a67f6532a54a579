/** Small bodies are rows of the database, and everything else of a blob store goes on as it was. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Ctx } from '@basa/protocol';
import { openDatabase, sqliteDatabase } from '@basa/service';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BlobStore, BODIES, bodiesOf, bodyKey, MOST_ROW_BYTES, readWhole } from '../../src/blobs/blob-store.ts';
import { openFileBlobs } from '../../src/blobs/files.ts';
import { openBodies } from '../../src/blobs/place.ts';
import { bodyRows, withRows } from '../../src/blobs/rows.ts';
import { EMBEDDED_DATABASE } from '../../src/store/schema.ts';
import { bytes } from '../support/store-samples.ts';

const nameOf = (id: number) => bytes(id) as Ctx;
const keyOf = (id: number): string => bodyKey(nameOf(id), { bodyBytes: 12 });

describe('small bodies', () => {
  let folder = '';
  let blobs: BlobStore;
  let close: () => Promise<void>;
  const open = async (): Promise<void> => {
    const database = sqliteDatabase(openDatabase(folder, EMBEDDED_DATABASE), Date.now);
    blobs = withRows(await openFileBlobs(join(folder, 'blobs')), bodyRows(database));
    close = () => database.close();
  };
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'basa-rows-'));
    await open();
  });
  afterEach(async () => {
    await close();
    rmSync(folder, { recursive: true });
  });

  const stageWhole = async (key: string, value: number): Promise<void> => {
    const staging = await blobs.stage(key);
    await staging.append(bytes(value, 5));
    await staging.append(bytes(value, 7));
    await staging.commit();
    await staging.close();
  };

  it('that come whole are rows, are read in parts, and are there after a restart', async () => {
    await stageWhole(keyOf(1), 3);
    expect(existsSync(join(folder, 'blobs', BODIES))).toBe(false);
    await close();
    await open();
    expect(await blobs.size(keyOf(1))).toBe(12);
    expect(await readWhole(blobs, keyOf(1))).toEqual(bytes(3, 12));
    for await (const piece of blobs.read(keyOf(1), 2, 6)) expect(piece).toEqual(bytes(3, 4));
  });

  it('that are there are never replaced', async () => {
    for (const value of [3, 9]) await stageWhole(keyOf(1), value);
    expect(await readWhole(blobs, keyOf(1))).toEqual(bytes(3, 12));
  });

  it('that come in pieces are staged as files and become rows when they are whole', async () => {
    const first = await blobs.stage(keyOf(1), 'attempt');
    await first.append(bytes(4, 5));
    await first.flush();
    await first.close();
    const second = await blobs.stage(keyOf(1), 'attempt');
    expect(second.size).toBe(5);
    await second.append(bytes(4, 7));
    await second.commit();
    expect(await readWhole(blobs, keyOf(1))).toEqual(bytes(4, 12));
    expect(existsSync(join(folder, 'blobs', 'incoming', `${keyOf(1)}-attempt`))).toBe(false);
  });

  it('are read by a thread over its own connection', async () => {
    await stageWhole(keyOf(1), 5);
    const place = { blobs: { kind: 'files', folder: join(folder, 'blobs') }, rows: { folder } } as const;
    const other = await openBodies(place);
    try {
      expect(await readWhole(other, keyOf(1))).toEqual(bytes(5, 12));
      expect(await other.size(keyOf(2))).toBeUndefined();
    } finally {
      await other.close();
    }
  });

  it('are removed with everything else of their uploads, and nothing of others is', async () => {
    const long = bodyKey(nameOf(1), { bodyBytes: MOST_ROW_BYTES + 1 });
    await blobs.put(long, bytes(1, 9));
    for (const id of [1, 2, 3]) await stageWhole(keyOf(id), id);
    const names = [1, 2, 3].map((id) => bodiesOf(nameOf(id)).slice(BODIES.length + 1));
    expect([...(await blobs.namesBelow(BODIES))].sort()).toEqual([...names].sort());
    await blobs.removeBelow(...[1, 2].map((id) => bodiesOf(nameOf(id))));
    expect(await blobs.namesBelow(BODIES)).toEqual([names[2]]);
    expect(await blobs.size(long)).toBeUndefined();
    await blobs.remove(keyOf(3));
    expect(await blobs.size(keyOf(3))).toBeUndefined();
    await expect(readWhole(blobs, keyOf(3))).rejects.toThrow('missing');
  });
});
