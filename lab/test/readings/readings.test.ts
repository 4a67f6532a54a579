/** Attacks that break no rule: each works, and noise or the rule that stops it leaves it nothing. */
import { expect, it } from 'vitest';
import { READINGS } from '../../src/readings/all.ts';
import { isAsPromised, readingsOf } from '../../src/readings/play.ts';
import type { ReadingAttack } from '../../src/readings/reading.ts';

const TIMED = 'timing';

it.each(READINGS.filter(({ id }) => id !== TIMED))(
  '$id reads without noise, or without the rule that stops it, and nothing where it must not',
  async (attack) => {
    const readings = await readingsOf(attack, { runs: 1, isSmall: true });
    expect(readings.none.read).toBeGreaterThan(0);
    expect(isAsPromised(attack, readings), JSON.stringify(readings)).toBe(true);
  },
);

it('timing runs against the code as it is and against the code without its rule', async () => {
  const attack = READINGS.filter(({ id }) => id === TIMED)[0] as ReadingAttack;
  // No test depends on times: whether they tell anything is in docs/evidence.md.
  const { none, blur, private: full } = await readingsOf(attack, { runs: 1, isSmall: true });
  expect([none.of, blur.of, full.of]).toEqual([6, 6, 6]);
});

it('an attack that reads nothing without noise, or something where it must not, is reported', () => {
  const [attack] = READINGS as [ReadingAttack];
  const [some, nothing] = [
    { read: 1, of: 6 },
    { read: 0, of: 6 },
  ];
  expect(isAsPromised(attack, { none: some, blur: nothing, private: nothing })).toBe(true);
  expect(isAsPromised(attack, { none: nothing, blur: nothing, private: nothing })).toBe(false);
  expect(isAsPromised(attack, { none: some, blur: nothing, private: some })).toBe(false);
  expect(isAsPromised({ ...attack, mayRead: ['none', 'blur'] }, { none: some, blur: some, private: nothing })).toBe(
    true,
  );
});
