import { describe, expect, it } from 'vitest';
import { createNodeKeystream, giveBack } from '../src/node/index.ts';
import { createWebKeystream } from '../src/web/index.ts';

const stream = { key: Uint8Array.from({ length: 16 }, (_, i) => i), counter: new Uint8Array(16) };
const zeros = stream.counter;

describe('the keystream', () => {
  it('is AES-128-CTR: the first block is the encryption of the counter (FIPS 197 appendix C.1)', async () => {
    const counter = Uint8Array.from({ length: 16 }, (_, i) => 0x11 * i);
    const expected = '69c4e0d86a7b0430d8cdb78070b4c55a';
    const request = { stream, firstByte: 0, counter, bytes: 16 };
    expect(Buffer.from(createNodeKeystream().read(request)).toString('hex')).toBe(expected);
    expect(Buffer.from(await createWebKeystream().read(request)).toString('hex')).toBe(expected);
  });

  it('is the same in Node and over WebCrypto where the 128-bit counter wraps around', async () => {
    const request = { stream, firstByte: 0, counter: new Uint8Array(16).fill(0xff), bytes: 100 };
    const piece = new Uint8Array(createNodeKeystream().read(request));
    expect(await createWebKeystream().read(request)).toEqual(piece);
    const afterWrap = createNodeKeystream().read({ stream, firstByte: 0, counter: zeros, bytes: 84 });
    expect(piece.subarray(16)).toEqual(new Uint8Array(afterWrap));
  });

  it('read on piece by piece is the stream read at once, and a jump starts at its counter', () => {
    const whole = new Uint8Array(createNodeKeystream().read({ stream, firstByte: 0, counter: zeros, bytes: 96 }));
    const keystream = createNodeKeystream();
    const at = (block: number): Uint8Array => Uint8Array.of(...zeros.subarray(0, 15), block);
    const read = (firstByte: number, bytes: number): Uint8Array =>
      new Uint8Array(keystream.read({ stream, firstByte, counter: at(firstByte / 16), bytes }));
    expect(read(0, 32)).toEqual(whole.subarray(0, 32));
    expect(read(32, 32)).toEqual(whole.subarray(32, 64));
    expect(read(16, 16)).toEqual(whole.subarray(16, 32));
    expect(read(80, 16)).toEqual(whole.subarray(80));
  });

  it('of Node frees what it answered before, when the next piece is asked for', () => {
    const keystream = createNodeKeystream();
    const read = (firstByte: number): Uint8Array =>
      keystream.read({ stream, firstByte, counter: zeros, bytes: 65_536 });
    const first = read(0);
    expect(first.length).toBe(65_536);
    const second = read(65_536);
    expect([first.length, second.length]).toEqual([0, 65_536]);
  });
});

it('memory that others have views of is not given back', () => {
  const whole = new Uint8Array(100_000).fill(7);
  giveBack(whole.subarray(0, 50_000));
  expect(whole.length).toBe(100_000);
  const shared = new Uint8Array(new SharedArrayBuffer(100_000));
  giveBack(shared);
  expect(shared.length).toBe(100_000);
  giveBack(whole);
  expect(whole.length).toBe(0);
});
