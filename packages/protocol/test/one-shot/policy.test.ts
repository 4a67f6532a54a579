/** The authorities that can serve the one-shot mode, and the lines of a policy that it needs. */
import {
  decodePolicy,
  ENGINE,
  encodePolicy,
  isHolder,
  ONE_SHOT_DEFAULTS,
  type OneShotPolicy,
  oneShotOf,
  partsOf,
  policyProblem,
  type TaskPolicy,
  taskIdOf,
  vouchersOf,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';

const { policy } = new ShotWorld();
const keys = (count: number) => Array.from({ length: count }, (_, n) => new Uint8Array(32).fill(n + 1));

function problemOf(count: number, threshold: number, shot: Partial<OneShotPolicy>, more: Partial<TaskPolicy> = {}) {
  const oneShot = { ...ONE_SHOT_DEFAULTS, ...shot };
  return policyProblem({ ...policy, authorities: keys(count), threshold, oneShot, ...more });
}

describe('the parts of a mask', () => {
  it.each([
    [1, 0, 1],
    [3, 1, 3],
    [4, 1, 4],
    [5, 1, 5],
    [7, 2, 21],
    [8, 2, 28],
    [16, 1, 16],
  ])('with %i authorities of which %i may collude are %i', (count, tolerated, expected) => {
    const parts = partsOf(count, tolerated);
    expect(parts).toHaveLength(expected);
    expect([...parts].sort((a, b) => a - b)).toEqual(parts);
    // Any f of them miss exactly one part.
    for (const colluding of parts) {
      const members = keys(count).flatMap((_, index) => (isHolder(colluding, index) ? [] : [index]));
      const missed = parts.filter((part) => members.every((index) => !isHolder(part, index)));
      expect(missed).toEqual([colluding]);
    }
  });

  it('need f + 1 holders that vouch, or one with the option uncheckedSums', () => {
    expect(vouchersOf({ ...ONE_SHOT_DEFAULTS, tolerated: 2 })).toBe(3);
    expect(vouchersOf({ ...ONE_SHOT_DEFAULTS, tolerated: 2, uncheckedSums: true })).toBe(1);
  });
});

describe('a policy of the one-shot mode', () => {
  it.each<[number, number, Partial<OneShotPolicy>]>([
    [1, 1, {}],
    [3, 3, { tolerated: 1 }],
    [4, 3, { tolerated: 1 }],
    [5, 4, { tolerated: 1 }],
    [6, 4, { tolerated: 1 }],
    [7, 5, { tolerated: 2 }],
    [7, 6, { tolerated: 3 }],
    [8, 6, { tolerated: 2 }],
    [2, 2, { tolerated: 1, uncheckedSums: true }],
    [3, 3, { tolerated: 2, uncheckedSums: true }],
  ])('with %i authorities, threshold %i and %o can be used', (count, threshold, shot) => {
    expect(problemOf(count, threshold, shot)).toBeUndefined();
  });

  it.each<[number, number, Partial<OneShotPolicy>, string]>([
    [1, 1, { tolerated: 1 }, 'one authority tolerates no collusion'],
    [4, 2, { tolerated: 1 }, 'the threshold must exceed 2.5'],
    [3, 2, { tolerated: 1 }, 'the threshold must exceed 2'],
    [4, 3, { tolerated: 0 }, 'tolerated must be at least 1'],
    [2, 2, { tolerated: 1 }, 'nobody could check a sum of masks'],
    [3, 3, { tolerated: 2 }, 'fewer than 3 hold each part'],
    [9, 7, { tolerated: 2 }, '36 parts exceed 35'],
  ])('with %i authorities, threshold %i and %o is refused: %s', (count, threshold, shot, sentence) => {
    expect(problemOf(count, threshold, shot)).toContain(sentence);
  });

  it('needs its own lines, and no other mode has them', () => {
    expect(() => oneShotOf({ oneShot: undefined })).toThrow('not of the one-shot mode');
    const mode = 'oneShot must be set in one-shot mode, and only there';
    expect(policyProblem({ ...policy, oneShot: undefined })).toBe(mode);
    const { authorities } = policy;
    const alone = { ...policy, engine: ENGINE.cpAbe, authorities: authorities.slice(0, 1), threshold: 1 };
    expect(policyProblem(alone)).toBe(mode);
    expect(policyProblem({ ...policy, versions: 'unsafeMixed' })).toContain('versions must be one');
    expect(problemOf(4, 3, { tolerated: 1, authorityNoise: true })).toContain('authorityNoise needs a private task');
    expect(problemOf(4, 3, { tolerated: 0 }, { unsafeThreshold: true })).toBeUndefined();
  });

  it('may have batches of up to 10,000, and positions of paper mode no more than 1024', () => {
    expect(problemOf(1, 1, {}, { bufferSize: 10_000 })).toBeUndefined();
    expect(problemOf(1, 1, {}, { bufferSize: 10_001 })).toContain('from 2 to 10000');
    expect(policyProblem({ ...policy, engine: ENGINE.cpAbe, oneShot: undefined, bufferSize: 1025 })).toContain(
      'from 2 to 1024',
    );
  });

  it.each<Partial<OneShotPolicy>>([
    { tolerated: 0 },
    { uncheckedSums: true },
    { authorityNoise: true },
    { epochMs: 1 },
    { voteMs: 1 },
    { freshMs: 1 },
    { sumsPerVersion: 64 },
    { sumsPerVersion: 5, combine: 'trimmed' },
    { sealing: 'x25519+mlkem768' },
  ])('with %o is another task, and reads as it was written', (change) => {
    const changed = { ...policy, oneShot: { ...(policy.oneShot as OneShotPolicy), ...change } };
    expect(decodePolicy(encodePolicy(changed))).toEqual(changed);
    expect(taskIdOf(nodeSuite, changed)).not.toEqual(taskIdOf(nodeSuite, policy));
  });

  it.each([0, 65, 1.5])('with %d sums a version cannot be written', (sumsPerVersion) => {
    const oneShot = { ...(policy.oneShot as OneShotPolicy), sumsPerVersion };
    expect(() => encodePolicy({ ...policy, oneShot })).toThrow(RangeError);
  });

  it('takes a trimmed mean of five sums or more', () => {
    expect(problemOf(1, 1, { combine: 'trimmed', sumsPerVersion: 4 })).toContain('at least 5 with a trimmed mean');
    expect(problemOf(1, 1, { combine: 'trimmed', sumsPerVersion: 5 })).toBeUndefined();
  });

  it.each(['epochMs', 'voteMs', 'freshMs'] as const)('without %s cannot be written', (name) => {
    const oneShot = { ...(policy.oneShot as OneShotPolicy), [name]: 0 };
    expect(() => encodePolicy({ ...policy, oneShot })).toThrow('at least a millisecond');
  });
});
