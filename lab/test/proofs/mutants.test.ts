/** Each rule of the core is there for an attack: without it the attack learns more than the honest sum. */

import { describe, expect, it } from 'vitest';
import { MUTANTS } from '../../src/proofs/mutants/list.ts';
import { isCaught, judgeMutant, runPatched } from '../../src/proofs/mutants/runs.ts';
import { playAttack, SEALED_ATTACKS } from '../../src/proofs/oracle/attacks.ts';
import { COUNCIL_ATTACKS } from '../../src/proofs/oracle/attacks-on-councils.ts';
import { ORACLE_ENGINES } from '../../src/proofs/world/symbolic-federation.ts';

describe('the unmodified core', () => {
  it.each(Object.keys(SEALED_ATTACKS))('gives the honest sum at most when %s', (attack) => {
    for (const engine of ORACLE_ENGINES) expect(playAttack(attack, engine)).toMatchObject({ leaked: [], broken: [] });
  });

  it.each(Object.entries(COUNCIL_ATTACKS))('of several authorities gives the honest sum at most when %s', (_, play) => {
    expect(play()).toMatchObject({ leaked: [], broken: [] });
  });

  it('says the same from a bundle without a patch', async () => {
    const attack = 'everybody is accepted';
    expect(await runPatched([], attack)).toEqual(playAttack(attack));
  });
});

describe('a mutant', () => {
  it('is caught, and each of its checks by itself stops the attack', async () => {
    // One of them; the others take long.
    const mutant = MUTANTS.find(({ name }) => name === 'the list of slot keys is not compared with its hash');
    if (mutant === undefined) throw new Error('no such mutant');
    expect(await judgeMutant(mutant)).toMatchObject({ unpatchedHolds: true, caught: true, eachAloneStops: true });
  });

  it('that no longer fits the code fails by name instead of passing unnoticed', async () => {
    const stale = { file: 'user/slot.ts', find: 'a line that is not there', replace: '' };
    await expect(runPatched([stale], 'everybody is accepted')).rejects.toThrow('occurs 0 times instead of once');
  });

  it('is needed for every attack but the plain ones: no schedule is kept that catches nothing', () => {
    const used = new Set(MUTANTS.map(({ caughtBy }) => caughtBy));
    const attacks = [...Object.keys(SEALED_ATTACKS), ...Object.keys(COUNCIL_ATTACKS)];
    expect(attacks.filter((attack) => !used.has(attack))).toEqual([]);
    expect(isCaught({ ...playAttack('everybody is accepted') })).toBe(false);
  });
});
