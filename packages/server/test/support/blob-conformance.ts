/** The requirements on every store of blobs. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BlobStore, readWhole } from '../../src/blobs/blob-store.ts';
import { WriteBehind } from '../../src/blobs/write-behind.ts';

export interface BlobPlace {
  /** A place of its own for each test, with nothing in it: what one node opens. */
  fresh(): Promise<void>;
  /** As another node, or the same one after a crash, opens it. */
  open(): Promise<BlobStore>;
  end(): Promise<void>;
}

export function testBlobs(name: string, start: () => Promise<BlobPlace>): void {
  describe(`blobs in ${name}`, () => {
    let place: BlobPlace;
    let blobs: BlobStore;
    beforeAll(async () => {
      place = await start();
    });
    afterAll(() => place?.end());
    beforeEach(async () => {
      await place.fresh();
      blobs = await place.open();
    });

    it('show nothing of a blob before it is committed', async () => {
      const staging = await blobs.stage('uploads/a');
      await staging.append(Uint8Array.of(1, 2, 3));
      expect(await blobs.size('uploads/a')).toBeUndefined();
      await staging.commit();
      expect(await readWhole(blobs, 'uploads/a')).toEqual(Uint8Array.of(1, 2, 3));
      expect(await readWhole(await place.open(), 'uploads/a')).toEqual(Uint8Array.of(1, 2, 3));
    });

    it('continue where a staging ended, and lose truncated bytes', async () => {
      const first = await blobs.stage('a');
      await first.append(Uint8Array.of(1, 2, 3, 4));
      await first.flush();
      await first.close();
      const second = await (await place.open()).stage('a');
      expect(second.size).toBe(4);
      await second.truncate(2);
      await second.append(Uint8Array.of(9));
      const staged: number[] = [];
      for await (const piece of second.read(1, 3)) staged.push(...piece);
      expect(staged).toEqual([2, 9]);
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
        const staging = await (await place.open()).stage('uploads/a');
        expect(staging.size).toBe(start);
        const behind = new WriteBehind(staging);
        for (let at = start; at < end; at += 65_000) await behind.add(bytes.subarray(at, Math.min(end, at + 65_000)));
        await behind.end();
        await (end < bytes.length ? staging.flush() : staging.commit());
        await staging.close();
      }
      expect(Buffer.compare(await readWhole(blobs, 'uploads/a'), bytes)).toBe(0);
    });

    it('keep nothing of discarded bytes', async () => {
      const staging = await blobs.stage('a');
      await staging.append(Uint8Array.of(1));
      await staging.discard();
      expect(await blobs.size('a')).toBeUndefined();
      const again = await blobs.stage('a');
      expect(again.size).toBe(0);
      await again.discard();
    });

    it('are written over by another put, and gone when removed', async () => {
      await blobs.put('a/b', Uint8Array.of(1, 2, 3));
      await blobs.put('a/b', Uint8Array.of(4));
      expect(await readWhole(blobs, 'a/b')).toEqual(Uint8Array.of(4));
      await blobs.put('a/empty', new Uint8Array());
      expect(await blobs.size('a/empty')).toBe(0);
      await blobs.remove('a/b');
      await blobs.remove('a/b');
      expect(await blobs.size('a/b')).toBeUndefined();
      expect(await blobs.size('a/empty')).toBe(0);
    });

    it('are removed and listed with everything below a name, staged or committed', async () => {
      await blobs.put('uploads/a/0/x', Uint8Array.of(1));
      await blobs.put('uploads/ab/0/x', Uint8Array.of(2));
      const staging = await blobs.stage('uploads/c/1/y');
      await staging.append(Uint8Array.of(3));
      await staging.close();
      expect([...(await blobs.namesBelow('uploads'))].sort()).toEqual(['a', 'ab', 'c']);
      for (const removed of ['a', 'c']) await blobs.removeBelow(`uploads/${removed}`);
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

    it('take no name that climbs out of their place', async () => {
      for (const climbing of ['../a', 'a/../../b', '/a', '', 'a//b', 'A', 'a/.b']) {
        await expect(blobs.put(climbing, Uint8Array.of(1))).rejects.toThrow('not the name of a blob');
      }
    });
  });
}

/** Further requirements on stores to which several nodes write at once. */
export function testSharedBlobs(name: string, start: () => Promise<BlobPlace>): void {
  describe(`two nodes that stage one blob in ${name}`, () => {
    let place: BlobPlace;
    beforeAll(async () => {
      place = await start();
      await place.fresh();
    });
    afterAll(() => place?.end());

    it('never change the bytes that the other commits', async () => {
      const bytes = Uint8Array.from({ length: 1_300_000 }, (_, n) => (n * 7) % 253);
      const first = await (await place.open()).stage('uploads/a');
      await first.append(bytes.subarray(0, 900_000));
      const second = await (await place.open()).stage('uploads/a');
      await second.truncate(0);
      await second.append(bytes);
      await first.append(bytes.subarray(900_000));
      await first.commit();
      await second.discard();
      const blobs = await place.open();
      expect(Buffer.compare(await readWhole(blobs, 'uploads/a'), bytes)).toBe(0);
      await blobs.removeBelow('uploads');
      expect(await blobs.namesBelow('uploads')).toEqual([]);
    });
  });
}
