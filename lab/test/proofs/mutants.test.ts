/** Each rule of the core is there for an attack: without it the attack learns more than the sums of final batches. */
import { describe, expect, it } from 'vitest';
import { MUTANTS } from '../../src/proofs/mutants/list.ts';
import { judgeMutant, runPatched } from '../../src/proofs/mutants/runs.ts';

const mutantOf = (id: string) => {
  const mutant = MUTANTS.find(({ attack }) => attack.id === id);
  if (mutant === undefined) throw new Error('no mutant');
  return mutant;
};

describe('a mutant', () => {
  // Some of them; the others take long.
  it.each(['S1', 'S24', 'S25', 'S27', 'S28', 'S33'])(
    'is caught, and each of its checks alone stops the attack [%s]',
    async (id) => {
      expect(await judgeMutant(mutantOf(id))).toMatchObject({
        unpatchedHolds: true,
        caught: true,
        eachAloneStops: true,
      });
    },
  );

  it('is found by generated schedules as well', async () => {
    const { edits } = mutantOf('S3');
    const { generated } = await runPatched(edits, 'S3', 60);
    expect(generated?.leaked.length).toBeGreaterThan(0);
  });

  it('that no longer fits the code fails by name instead of passing unnoticed', async () => {
    const stale = { file: 'wire/one-shot/batch-rules.ts', find: 'a line that is not there', replace: '' };
    await expect(runPatched([stale], 'S2')).rejects.toThrow('occurs 0 times instead of once');
  });
});
