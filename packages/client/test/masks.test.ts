/** Masks of long vectors: on threads of their own, the same bits, ended by a signal, and no reason for a process to stay. */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { applyMasksInPlace, FIELD, type MaskPlan, type Modulus, RING_32, ring, Secret } from '@basa/masking';
import { wasmTools } from '@basa/testkit/core/tools.ts';
import { FROM_SOURCE } from '@basa/testkit/root.ts';
import { expect, it } from 'vitest';
import { maskVector } from '../src/node/masks.ts';
import { nodeOutside } from '../src/node/outside.ts';

const LONG = 2 ** 18;

function planOf(modulus: Modulus, firstWord = 0): MaskPlan {
  const terms = [1, -1, 1].map((sign, n) => ({
    seed: new Secret(new Uint8Array(32).fill(n + 1)),
    sign: sign as 1 | -1,
    // A term may have a salt of its own, as in the one-shot mode.
    ...(n === 2 && { salt: new Uint8Array(32).fill(8) }),
  }));
  return { modulus, salt: new Uint8Array(32).fill(9), terms, firstWord };
}

it.each([
  ['the ring, in two pieces', RING_32, LONG],
  ['the ring, in several pieces and a rest', RING_32, 3 * LONG + 17],
  ['the field', FIELD, LONG + 1],
  ['a packed ring', ring(20), LONG + 4099],
  ['the ring, on one thread', RING_32, LONG - 1],
])('masks of %s are those of one thread', async (_, modulus, d) => {
  const { mask } = nodeOutside();
  const vector = Uint32Array.from({ length: d }, (_, k) => k % 65_536);
  const expected = vector.slice();
  applyMasksInPlace(expected, planOf(modulus, 32), wasmTools());
  await mask(vector, planOf(modulus, 32));
  expect(Buffer.from(vector.buffer).equals(Buffer.from(expected.buffer))).toBe(true);
});

it('the calling thread is not blocked while a long vector is masked', async () => {
  const { mask } = nodeOutside();
  let isMasked = false;
  const masking = Promise.resolve(mask(new Uint32Array(16 * LONG), planOf(RING_32))).then(() => {
    isMasked = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isMasked).toBe(false); // the number of its turns until then depends on the machine
  await masking;
});

it('a signal ends the work between two pieces', async () => {
  const { mask } = nodeOutside();
  const ending = new AbortController();
  const vector = new Uint32Array(16 * LONG);
  const masked = mask(vector, planOf(RING_32), ending.signal);
  ending.abort(new Error('given up'));
  await expect(masked).rejects.toThrow('given up');
  expect(vector.subarray(-LONG).every((word) => word === 0)).toBe(true);
});

it('long vectors are masked only by the threads, short ones by the caller', async () => {
  const read = (): never => {
    throw new Error('masked here');
  };
  const tools = { ...wasmTools(), keystream: { read } };
  await maskVector(new Uint32Array(LONG), planOf(RING_32), tools);
  await expect(maskVector(new Uint32Array(LONG - 1), planOf(RING_32), tools)).rejects.toThrow('masked here');
});

it('a vector that cannot be passed to a thread is masked by the caller', async () => {
  const modulus = { ...RING_32, note: () => 'a function cannot be sent' };
  const [vector, expected] = [new Uint32Array(LONG), new Uint32Array(LONG)];
  applyMasksInPlace(expected, planOf(RING_32), wasmTools());
  await nodeOutside().mask(vector, planOf(modulus));
  expect(Buffer.from(vector.buffer).equals(Buffer.from(expected.buffer))).toBe(true);
  await nodeOutside().mask(vector, planOf(RING_32)); // the threads are still there
});

it('an impossible plan is refused in the same way as on one thread', async () => {
  await expect(nodeOutside().mask(new Uint32Array(LONG), planOf(RING_32, 8))).rejects.toThrow('multiple of 16');
});

it('a process ends when it is done, with its threads idle', async () => {
  const program = `
    const { nodeOutside } = await import(${JSON.stringify(new URL('../src/node/outside.ts', import.meta.url).href)});
    const { RING_32 } = await import('@basa/masking');
    await nodeOutside().mask(new Uint32Array(${LONG}), { modulus: RING_32, salt: new Uint8Array(32), terms: [] });
    console.log('masked');`;
  const words = [...FROM_SOURCE, '--input-type=module', '--eval', program];
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, words, { cwd });
  expect(stdout).toBe('masked\n');
});
