/** A staged body counts if it has the expected checksum and sealed parts, and if every number in it is one of the group. */

import { FIELD, FIELD_PRIME, type Modulus, RING_32, ring } from '@basa/masking';
import { nodeCrc32 } from '@basa/runtime/node';
import { expect, it } from 'vitest';
import type { Staging } from '../../src/blobs/blob-store.ts';
import { isExpected } from '../../src/uploads/body.ts';

const hasParts = (): boolean => true;

/** Staged bytes, read in pieces that divide no word evenly. */
function staged(bytes: Uint8Array): Staging {
  return {
    size: bytes.length,
    async *read(start: number, end: number) {
      for (let at = start; at < end; at += 3) yield bytes.slice(at, Math.min(end, at + 3));
    },
  } as unknown as Staging;
}

/** True if a vector of this many elements passes, with the hash known or not. */
async function passes(bytes: Uint8Array, modulus: Modulus, elements: number): Promise<boolean> {
  const layout = { elements, vectorBytes: bytes.length, bodyBytes: bytes.length } as never;
  const expected = { crc: nodeCrc32(bytes), hasParts, modulus, layout };
  const answers = [
    await isExpected(staged(bytes), expected, nodeCrc32(bytes)),
    await isExpected(staged(bytes), expected, undefined),
  ];
  expect(answers[0]).toBe(answers[1]);
  return answers[0] === true;
}

const words = (...numbers: readonly number[]) => new Uint8Array(Uint32Array.from(numbers).buffer);

it('the checksum is the expected one, and the sealed parts are those that the header names', async () => {
  const bytes = words(1, 2, 3);
  const layout = { elements: 2, vectorBytes: 8, bodyBytes: 12 };
  const expected = { crc: nodeCrc32(bytes), hasParts, modulus: RING_32, layout };
  expect(await isExpected(staged(bytes), expected, undefined)).toBe(true);
  const other = { ...expected, crc: nodeCrc32(words(1, 2, 4)) };
  expect(await isExpected(staged(bytes), other, undefined)).toBe(false);
  expect(await isExpected(staged(bytes), other, nodeCrc32(bytes))).toBe(false);
  const seen: Uint8Array[] = [];
  const strange = (sealed: Uint8Array): boolean => seen.push(sealed) === 0;
  expect(await isExpected(staged(bytes), { ...expected, hasParts: strange }, nodeCrc32(bytes))).toBe(false);
  expect(seen).toEqual([words(3)]);
});

it('in the field every word is below its order; in the ring of 32 bits every word is an element', async () => {
  const order = FIELD_PRIME;
  expect(await passes(words(0, order - 1, 5), FIELD, 3)).toBe(true);
  for (const word of [order, 2 ** 32 - 1]) {
    expect(await passes(words(1, 2, word), FIELD, 3)).toBe(false);
    expect(await passes(words(word, 2, 1), FIELD, 3)).toBe(false);
    expect(await passes(words(1, 2, word), RING_32, 3)).toBe(true);
  }
});

it('in a ring of fewer bits, those after the last element are zero', async () => {
  const bits = 20; // three elements are 60 bits: the last four of eight bytes are unused
  const ending = (...last: readonly number[]) => Uint8Array.of(255, 255, 255, 255, ...last);
  expect(await passes(ending(255, 255, 255, 0x0f), ring(bits), 3)).toBe(true);
  for (const last of [0x1f, 0x8f]) expect(await passes(ending(255, 255, 255, last), ring(bits), 3)).toBe(false);
  expect(await passes(ending(255), ring(bits), 2)).toBe(true); // no bit is left over
});
