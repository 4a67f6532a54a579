/** Pieces of one body at several nodes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BlobStore, bodyKey, readWhole, type Staging } from '../../src/blobs/blob-store.ts';
import { openSharedFileBlobs } from '../../src/blobs/files.ts';
import type { Store } from '../../src/store/store.ts';
import { openPiece } from '../../src/uploads/bodies.ts';
import { bytes, nameOf, task } from '../support/store-samples.ts';
import { volatileStore } from '../support/volatile-store.ts';

const upload = nameOf(1);
/** Longer than a row. */
const layout = { elements: 100_000, vectorBytes: 400_000, bodyBytes: 400_000 };
const body = { upload, layout };

let folder = '';
let store: Store;
/** Two nodes on one folder. */
let blobs: readonly [BlobStore, BlobStore];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'basa-pieces-'));
  ({ store } = await volatileStore(task, Date.now));
  const shared = join(folder, 'blobs');
  blobs = [await openSharedFileBlobs(shared), await openSharedFileBlobs(shared)];
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The next piece at this node. */
const open = (node: 0 | 1) => openPiece({ blobs: blobs[node], store }, body, false);

async function append(staging: Staging, value: number, count: number): Promise<void> {
  await staging.append(bytes(value, count));
  await staging.flush();
}

/** The first node settles ten bytes. */
async function settleTen(): Promise<void> {
  const first = await open(0);
  await append(first.staging, 1, 10);
  await first.settle(10);
  await first.staging.close();
}

describe('pieces of one body at several nodes', () => {
  it('follow each other in one place', async () => {
    await settleTen();
    const second = await open(1);
    expect(second.standing).toBe(10);
    await append(second.staging, 2, 5);
    await second.staging.commit();
    expect(await readWhole(blobs[0], bodyKey(upload, layout))).toEqual(
      Uint8Array.from([...bytes(1, 10), ...bytes(2, 5)]),
    );
  });

  it('of an attempt that a newer one has replaced do not count, and do not change the newer pieces', async () => {
    await settleTen();
    const hanging = await open(0);
    await append(hanging.staging, 9, 3);
    const back = await open(1);
    expect(back.standing).toBe(10);
    await append(back.staging, 2, 20);
    await append(hanging.staging, 9, 4);
    await back.settle(30);
    await back.staging.close();
    await expect(hanging.settle(17)).rejects.toThrow('does not start where');
    await hanging.staging.truncate(10);
    await hanging.fail(10);
    await hanging.staging.close();
    const last = await open(0);
    expect(last.standing).toBe(30);
    await last.staging.commit();
    expect(await readWhole(blobs[1], bodyKey(upload, layout))).toEqual(
      Uint8Array.from([...bytes(1, 10), ...bytes(2, 20)]),
    );
  });

  it('go on after a node died in the midst of one', async () => {
    await settleTen();
    const dead = await open(0);
    await append(dead.staging, 9, 3);
    await dead.staging.close();
    const next = await open(1);
    expect(next.standing).toBe(10);
    expect(next.staging.size).toBe(10);
    await next.staging.close();
  });

  it('that are the complete body may come twice at the same time', async () => {
    const both = await Promise.all(blobs.map((one) => openPiece({ blobs: one, store }, body, true)));
    for (const { staging } of both) await append(staging, 3, 12);
    await both[0]?.staging.commit();
    await append((both[1] as (typeof both)[number]).staging, 3, 0);
    await both[1]?.staging.commit();
    expect(await readWhole(blobs[0], bodyKey(upload, layout))).toEqual(bytes(3, 12));
  });
});
