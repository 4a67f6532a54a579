/** The policy of a statistics task from a few settings. */
import { type StatisticsSettings, statisticsPolicy } from '@basa/client/operator';
import { taskNoise } from '@basa/protocol/internal/wire/privacy.ts';
import { type FieldDefinitions, policyProblem, type TaskPolicy } from '@basa/protocol/policy';
import { expect, it } from 'vitest';

const FIELDS: FieldDefinitions = { screenMs: { low: 0, high: 60_000, step: 100 }, country: { choices: ['at', 'de'] } };
const keys = (authorities: number) => ({
  serverKey: new Uint8Array(32),
  authorities: Array.from({ length: authorities }, (_, n) => new Uint8Array(32).fill(n + 1)),
});
const policyOf = (lines: Partial<StatisticsSettings> = {}, authorities = 1): TaskPolicy =>
  statisticsPolicy({ name: 'usage', fields: FIELDS, windowMs: 3_600_000, ...lines }, keys(authorities));

it('is private at every K, with the coarsest level that the noise allows', () => {
  for (const bufferSize of [2, 10, 100, 1000]) {
    for (const authorities of [1, 4]) {
      const policy = policyOf({ bufferSize, minimum: Math.max(2, 0.8 * bufferSize) }, authorities);
      expect(policyProblem(policy)).toBeUndefined();
      expect(policy.privacy).toMatchObject({ noiseMultiplier: 1, budget: { participations: 100 } });
      expect(taskNoise(policy)?.isCentral).toBe(authorities === 1);
      const coarser = { ...policy, level: policy.level - 1 };
      expect(policy.level === 1 || policyProblem(coarser) !== undefined).toBe(true);
    }
  }
});

it('has epochs that last as long as a window, so that all of its reports can be summed at its end', () => {
  expect(policyOf({ windowMs: 86_400_000 }).oneShot?.epochMs).toBe(86_400_000);
  expect(policyOf({ windowMs: 1000 }).oneShot?.epochMs).toBe(3_600_000);
});

it('lets reports wait for authorities as long as their epochs, and no longer than devices allow', () => {
  expect([1000, 600_000, 3_600_000, 86_400_000].map((windowMs) => policyOf({ windowMs }).maxStaleness)).toEqual([
    15, 6, 1, 1,
  ]);
});

it('is exact only by its name', () => {
  expect(policyOf({ unsafeExact: true })).toMatchObject({
    privacy: undefined,
    level: 1,
    oneShot: { authorityNoise: false },
  });
  expect(() => policyOf({ privacy: { noiseMultiplier: 0.5 } })).toThrow('noise of at least 1');
});

it('names the field that cannot be used', () => {
  expect(() => policyOf({ fields: { a: { edges: [1] } } })).toThrow('the field a needs at least two edges');
  expect(() => policyOf({ fields: { a: { low: 0, high: 4e9, step: 2 } }, unsafeExact: true })).toThrow('wrap around');
});
