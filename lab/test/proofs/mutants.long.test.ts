/** Each rule of the core is there for an attack: without it the attack learns more than the sums of final batches. */
import { describe, expect, it } from 'vitest';
import { MUTANTS } from '../../src/proofs/mutants/list.ts';
import { judgeMutant } from '../../src/proofs/mutants/runs.ts';

describe('a mutant', () => {
  it.each(MUTANTS)('is caught: $name', async (mutant) => {
    const verdict = await judgeMutant(mutant);
    expect(verdict).toMatchObject({ unpatchedHolds: true, caught: true, eachAloneStops: true });
    expect([...verdict.learned, ...verdict.broken]).toEqual(mutant.attack.learned);
  });
});
