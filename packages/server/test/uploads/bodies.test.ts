/** Bodies as they come: read without waiting for single chunks, written and hashed block by block. */
import { createHash } from 'node:crypto';
import { PassThrough, Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { fillBlock, giveBlock, takeBlock } from '../../src/blobs/blocks.ts';
import { WriteBehind } from '../../src/blobs/write-behind.ts';
import { BodyHashing } from '../../src/uploads/body-hash.ts';
import { readBody, readSmall } from '../../src/uploads/read-body.ts';

const LONG = 1 << 20;
const bytesOf = (length: number) => Uint8Array.from({ length }, (_, n) => (n * 31) % 251);
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();

describe('the hash of a body', () => {
  const hashing = new BodyHashing();
  afterEach(() => hashing.close());

  it.each([
    ['short', 1000],
    ['long, in a thread', 2_500_003],
  ])('of a %s one is its SHA-256, also beside others', async (_, length) => {
    const bodies = [bytesOf(length), bytesOf(length).reverse()];
    const digests = bodies.map(async (body) => {
      const hash = hashing.begin(length);
      const behind = new WriteBehind({ append: async () => undefined }, (block) => hash.update(block));
      for (let at = 0; at < length; at += 65_521) await behind.add(body.subarray(at, at + 65_521));
      await behind.end();
      return hash.digest();
    });
    for (const [n, digest] of (await Promise.all(digests)).entries())
      expect(Buffer.from(digest)).toEqual(sha256(bodies[n] as Uint8Array));
  });

  it('is refused if its thread has ended, and the next body gets another thread', async () => {
    const block = takeBlock();
    const lost = hashing.begin(LONG);
    await lost.update(block);
    await hashing.close();
    await expect(lost.digest()).rejects.toThrow('the thread that hashes has ended');
    const next = hashing.begin(LONG);
    fillBlock(block, 0, Uint8Array.of(1, 2, 3));
    await next.update(block.subarray(0, 3));
    expect(Buffer.from(await next.digest())).toEqual(sha256(Uint8Array.of(1, 2, 3)));
    giveBlock(block);
  });
});

describe('writing behind', () => {
  it('does not use a block again before it is written and hashed', async () => {
    const seen: number[] = [];
    let hashed = (): void => undefined;
    const behind = new WriteBehind({ append: async () => undefined }, async (block) => {
      await new Promise<void>((resolve) => {
        hashed = resolve;
      });
      seen.push(block[0] as number);
    });
    const block = (value: number) => new Uint8Array(512 * 1024).fill(value);
    expect(behind.add(block(1))).toBeUndefined();
    const second = behind.add(block(2));
    expect(second).toBeInstanceOf(Promise);
    await sleep(5);
    expect(seen).toEqual([]);
    hashed();
    await second;
    await sleep(5);
    hashed();
    await behind.end();
    expect(seen).toEqual([1, 2]);
  });

  it('reports an error of the hash', async () => {
    const failing = async (): Promise<void> => {
      throw new Error('no thread');
    };
    const behind = new WriteBehind({ append: async () => undefined }, failing);
    void behind.add(new Uint8Array(10));
    await expect(behind.end()).rejects.toThrow('no thread');
  });
});

describe('the body of a request', () => {
  it('comes chunk by chunk; its sender waits while a chunk is worked on', async () => {
    const body = new PassThrough();
    const taken: number[] = [];
    let go = (): void => undefined;
    const reading = readBody(body, ([value = 0]) => {
      taken.push(value);
      if (value !== 1) return undefined;
      return new Promise((resolve) => {
        go = resolve;
      });
    });
    for (const value of [1, 2, 3]) body.write(Uint8Array.of(value));
    body.end();
    await sleep(5);
    expect(taken).toEqual([1]);
    go();
    await reading;
    expect(taken).toEqual([1, 2, 3]);
  });

  it('is refused in the middle, immediately or later, and the rest is not accepted', async () => {
    for (const no of [
      () => {
        throw new Error('too long');
      },
      () => Promise.reject(new Error('too long')),
    ]) {
      const body = new PassThrough();
      let count = 0;
      const reading = readBody(body, () => {
        count++;
        return no();
      });
      body.write(Uint8Array.of(1));
      await expect(reading).rejects.toThrow('too long');
      body.resume();
      body.end(Uint8Array.of(2));
      await sleep(5);
      expect([count, body.destroyed]).toEqual([1, true]); // ended by itself
    }
  });

  it('that is cut off, or was before it is read, is an error', async () => {
    const cut = new PassThrough();
    const reading = readBody(cut, () => undefined);
    cut.destroy();
    await expect(reading).rejects.toThrow('cut off');
    const gone = Readable.from([]);
    gone.destroy();
    await expect(readBody(gone, () => undefined)).rejects.toThrow('cut off');
  });

  it('that is small is read whole, held to its length and to its digest', async () => {
    const digest = sha256(Uint8Array.of(1, 2, 3));
    const sent = (...values: readonly number[]): PassThrough => {
      const body = new PassThrough();
      for (const value of values) body.write(Uint8Array.of(value));
      return body.end();
    };
    expect([...(await readSmall({ body: sent(1, 2, 3), digest }, 3))]).toEqual([1, 2, 3]);
    await expect(readSmall({ body: sent(1, 2, 4), digest }, 3)).rejects.toThrow('does not match the digest');
    await expect(readSmall({ body: sent(1, 2, 3, 4), digest }, 3)).rejects.toMatchObject({
      document: { type: 'urn:basa:problem:body-too-large' },
    });
  });
});
