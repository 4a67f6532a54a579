/** Bodies as they come: read without waiting for single chunks, written block by block. */

import { PassThrough, Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { nodeCrc32 } from '@basa/runtime/node';
import { describe, expect, it } from 'vitest';
import { WriteBehind } from '../../src/blobs/write-behind.ts';
import { readBody, readSmall } from '../../src/uploads/bodies.ts';

it('writing behind does not use a block again before it is written', async () => {
  const seen: number[] = [];
  let written = (): void => undefined;
  const append = async (block: Uint8Array): Promise<void> => {
    await new Promise<void>((resolve) => {
      written = resolve;
    });
    seen.push(block[0] as number);
  };
  const behind = new WriteBehind({ append });
  const block = (value: number) => new Uint8Array(512 * 1024).fill(value);
  expect(behind.add(block(1))).toBeUndefined();
  const second = behind.add(block(2));
  expect(second).toBeInstanceOf(Promise);
  await sleep(5);
  expect(seen).toEqual([]);
  written();
  await second;
  await sleep(5);
  written();
  await behind.end();
  expect(seen).toEqual([1, 2]);
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

  it('that is small is read whole, held to its length and to its checksum', async () => {
    const crc = nodeCrc32(Uint8Array.of(1, 2, 3));
    const sent = (...values: readonly number[]): PassThrough => {
      const body = new PassThrough();
      for (const value of values) body.write(Uint8Array.of(value));
      return body.end();
    };
    expect([...(await readSmall({ body: sent(1, 2, 3), crc }, 3))]).toEqual([1, 2, 3]);
    await expect(readSmall({ body: sent(1, 2, 4), crc }, 3)).rejects.toThrow('does not match the digest');
    await expect(readSmall({ body: sent(1, 2, 3, 4), crc }, 3)).rejects.toMatchObject({
      document: { type: 'urn:basa:problem:body-too-large' },
    });
  });
});
