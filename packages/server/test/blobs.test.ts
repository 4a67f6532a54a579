import { existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { BlobStore } from '../src/blobs/blob-store.ts';
import { readWhole } from '../src/blobs/blob-store.ts';
import { openFileBlobs } from '../src/blobs/files.ts';
import { wordPieces } from '../src/blobs/words.ts';
import { WriteBehind } from '../src/blobs/write-behind.ts';

describe('blobs in files', () => {
  let folder: string;
  let blobs: BlobStore;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'basa-blobs-'));
    blobs = await openFileBlobs(folder);
  });

  it('show nothing of a blob before it is committed', async () => {
    const staging = await blobs.stage('uploads/a');
    await staging.append(Uint8Array.of(1, 2, 3));
    expect(await blobs.size('uploads/a')).toBeUndefined();
    await staging.commit();
    expect(await readWhole(blobs, 'uploads/a')).toEqual(Uint8Array.of(1, 2, 3));
    expect(readdirSync(join(folder, 'incoming', 'uploads'))).toEqual([]);
  });

  it('go on where a staging was left, and forget what is truncated', async () => {
    const first = await blobs.stage('a');
    await first.append(Uint8Array.of(1, 2, 3, 4));
    await first.flush();
    await first.close();
    const second = await (await openFileBlobs(folder)).stage('a');
    expect(second.size).toBe(4);
    await second.truncate(2);
    await second.append(Uint8Array.of(9));
    await second.commit();
    expect(await readWhole(blobs, 'a')).toEqual(Uint8Array.of(1, 2, 9));
  });

  it.each([
    ['at a page', 1 << 20],
    ['between pages', 700_001],
  ])('are the bytes that came, long ones gathered in blocks and resumed %s', async (_, cut) => {
    const bytes = Uint8Array.from({ length: 2_500_003 }, (_unused, n) => (n * 31) % 251);
    for (const [start, end] of [
      [0, cut],
      [cut, bytes.length],
    ] as const) {
      const staging = await (await openFileBlobs(folder)).stage('uploads/a');
      expect(staging.size).toBe(start);
      const behind = new WriteBehind(staging);
      for (let at = start; at < end; at += 65_000) await behind.add(bytes.subarray(at, Math.min(end, at + 65_000)));
      await behind.end();
      await (end < bytes.length ? staging.flush() : staging.commit());
      await staging.close();
    }
    expect(Buffer.compare(await readWhole(blobs, 'uploads/a'), bytes)).toBe(0);
  });

  it('say what went wrong behind the back of whoever writes', async () => {
    const full = async (): Promise<void> => {
      throw new Error('the disk is full');
    };
    const staging = await blobs.stage('a');
    const behind = new WriteBehind({ ...staging, append: full });
    await expect(
      (async () => {
        for (let n = 0; n < 3; n++) await behind.add(new Uint8Array(600_000));
      })(),
    ).rejects.toThrow('the disk is full');
    await expect(behind.end()).rejects.toThrow('the disk is full');
    await staging.close();
  });

  it('keep nothing of what is discarded', async () => {
    const staging = await blobs.stage('a');
    await staging.append(Uint8Array.of(1));
    await staging.discard();
    expect(readdirSync(join(folder, 'incoming'))).toEqual([]);
    expect(await blobs.size('a')).toBeUndefined();
  });

  it('are removed and listed with everything below a name, staged or committed', async () => {
    await blobs.put('uploads/a/0/x', Uint8Array.of(1));
    await blobs.put('uploads/ab/0/x', Uint8Array.of(2));
    const staging = await blobs.stage('uploads/c/1/y');
    await staging.append(Uint8Array.of(3));
    await staging.close();
    expect([...(await blobs.namesBelow('uploads'))].sort()).toEqual(['a', 'ab', 'c']);
    for (const name of ['a', 'c']) await blobs.removeBelow(`uploads/${name}`);
    expect(await blobs.namesBelow('uploads')).toEqual(['ab']);
    expect(await blobs.namesBelow('nothing')).toEqual([]);
    const again = await blobs.stage('uploads/c/1/y');
    expect(again.size).toBe(0);
    await again.discard();
  });

  it('are read from and to any place, and a short one is an error', async () => {
    await blobs.put(
      'big',
      Uint8Array.from({ length: 1_200_000 }, (_, n) => n % 251),
    );
    const pieces: number[] = [];
    for await (const piece of blobs.read('big', 3, 1_199_999)) for (const byte of piece) pieces.push(byte);
    expect(pieces.length).toBe(1_199_996);
    expect(pieces[0]).toBe(3);
    const beyond = async () => {
      for await (const _ of blobs.read('big', 0, 1_200_001));
    };
    await expect(beyond()).rejects.toThrow('1 bytes early');
  });

  it('take no name that climbs out of their folder', async () => {
    for (const name of ['../a', 'a/../../b', '/a', '', 'a//b', 'A']) {
      await expect(blobs.put(name, Uint8Array.of(1))).rejects.toThrow('not the name of a blob');
    }
    expect(existsSync(join(folder, '..', 'a'))).toBe(false);
  });

  it('become words whatever pieces they come in', async () => {
    const pieces = async function* () {
      yield Uint8Array.of(1, 0, 0);
      yield Uint8Array.of(0, 2, 0, 0, 0, 3);
      yield Uint8Array.of(0, 0, 0);
    };
    const words: number[] = [];
    for await (const block of wordPieces(pieces())) words.push(...block);
    expect(words).toEqual([1, 2, 3]);
  });
});
