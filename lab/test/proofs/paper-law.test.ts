/** The general law of `paper` mode: what the server learns if the keys of some positions leaked. */
import { expect, it } from 'vitest';
import { learnedInPaper, paperLaw } from '../../src/proofs/paper-law.ts';

function leakSets(bufferSize: number): readonly ReadonlySet<number>[] {
  const positions = Array.from({ length: bufferSize }, (_, k) => k);
  return Array.from({ length: 2 ** bufferSize }, (_, code) => new Set(positions.filter((k) => (code >> k) % 2 === 1)));
}

it.each([3, 4, 5, 6])('holds for every set of leaked keys, K = %d', (bufferSize) => {
  for (const leaked of leakSets(bufferSize))
    expect(learnedInPaper(bufferSize, leaked)).toEqual(paperLaw(bufferSize, leaked));
});

it('says that a colluder who held the last position exposes its next user, and that nothing leaks without colluders', () => {
  expect(paperLaw(3, new Set([2]))).toEqual(['x0 + x1', 'x2']);
  expect(paperLaw(3, new Set())).toEqual(['x0 + x1 + x2']);
});
