/** A check of a signature changes nothing of what it is given. */
import { expect, it } from 'vitest';
import { isStrictSignature } from '../src/ed25519-strict.ts';

it.each([
  ['an array of bytes', Uint8Array.from({ length: 32 }, (_, n) => 0xa0 + n)],
  ['a Buffer, whose slice is the same memory', Buffer.from(Array.from({ length: 32 }, (_, n) => 0xa0 + n))],
])('leaves a key alone that is %s', (_, key) => {
  const before = [...key];
  expect(isStrictSignature(new Uint8Array(64), key)).toBe(true);
  expect([...key]).toEqual(before);
});
