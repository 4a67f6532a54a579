/** The authorities that can serve the one-shot mode, and the lines of a policy that it needs. */
import { defaultThreshold, mostTolerated } from '@basa/protocol/internal/wire/council.ts';
import { isHolder, MAX_PARTS, oneShotOf, partsOf, vouchersOf } from '@basa/protocol/internal/wire/one-shot-policy.ts';
import { DEFAULT_TRAINING } from '@basa/protocol/internal/wire/training.ts';
import {
  ENGINE,
  ONE_SHOT_DEFAULTS,
  type OneShotPolicy,
  policyProblem,
  TaskPolicy,
  taskIdOf,
} from '@basa/protocol/policy';
import { nodeSuite } from '@basa/runtime/node';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';

const { policy } = new ShotWorld();
const SHOT = oneShotOf(policy);
/** n, t and f. */
const POSSIBLE: readonly (readonly [number, number, number])[] = [
  [1, 1, 0],
  [3, 3, 1],
  [4, 3, 1],
  [5, 4, 1],
  [6, 4, 1],
  [7, 5, 1],
  [7, 5, 2],
  [8, 6, 2],
];
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
    [6, 1, 6],
    [7, 1, 7],
    [7, 2, 21],
    [8, 2, 28],
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

  it.each(POSSIBLE)('%i of them, of which %i are needed and %i may collude, are held by f + 1 of any t', (n, t, f) => {
    expect(2 * t).toBeGreaterThan(n + f);
    const vouchers = vouchersOf({ ...ONE_SHOT_DEFAULTS, tolerated: f });
    const parts = partsOf(n, f);
    expect(parts.length).toBeLessThanOrEqual(MAX_PARTS);
    for (const answering of partsOf(n, t)) {
      const members = [...keys(n).keys()].filter((index) => !isHolder(answering, index));
      for (const part of parts) expect(members.filter((index) => isHolder(part, index)).length >= vouchers).toBe(true);
    }
  });
});

describe('a policy of the one-shot mode', () => {
  it('is refused with other numbers of authorities than eight, by a sentence that lists them', () => {
    const all = [1, 2, 3, 4, 5, 6, 7, 8].flatMap((n) =>
      [...Array(n).keys()].flatMap((less) => [0, 1, 2, 3].map((f) => [n, n - less, f] as const)),
    );
    const possible = all.filter(([n, t, tolerated]) => problemOf(n, t, { tolerated }) === undefined);
    expect(new Set(possible.map(String))).toEqual(new Set(POSSIBLE.map(String)));
    expect(problemOf(4, 2, { tolerated: 1 })).toBe(
      '2 of 4 authorities, of which 1 may collude, are not possible; possible are 1 of 1 (0), 3 of 3 (1), 3 of 4 (1), 4 of 5 (1), 4 of 6 (1), 5 of 7 (1), 5 of 7 (2), 6 of 8 (2)',
    );
  });

  it.each([
    [1, 1, 0],
    [7, 5, 2],
    [8, 6, 2],
    [6, 4, 1],
    [2, 2, 0],
  ])('of %i authorities needs %i by default, of which %i may collude', (count, threshold, tolerated) => {
    expect(defaultThreshold(count)).toBe(threshold);
    expect(mostTolerated({ authorities: keys(count), threshold })).toBe(tolerated);
  });

  it('needs its own lines, and no other mode has them', () => {
    expect(() => oneShotOf({ oneShot: undefined })).toThrow('not of the one-shot mode');
    const mode = 'oneShot must be set in one-shot mode, and only there';
    expect(policyProblem({ ...policy, oneShot: undefined })).toBe(mode);
    const { authorities } = policy;
    const alone = { ...policy, engine: ENGINE.cpAbe, authorities: authorities.slice(0, 1), threshold: 1 };
    expect(policyProblem(alone)).toBe(mode);
    expect(policyProblem({ ...policy, versions: 'unsafeMixed' })).toContain('versions must be one');
    expect(problemOf(4, 3, { tolerated: 1, authorityNoise: true })).toContain('authorityNoise needs noise');
  });

  it('may have batches of up to 10,000, and positions of paper mode no more than 1024', () => {
    expect(problemOf(1, 1, {}, { bufferSize: 10_000 })).toBeUndefined();
    expect(problemOf(1, 1, {}, { bufferSize: 10_001 })).toContain('from 2 to 10000');
    expect(policyProblem({ ...policy, engine: ENGINE.cpAbe, oneShot: undefined, bufferSize: 1025 })).toContain(
      'from 2 to 1024',
    );
  });

  it.each<Partial<TaskPolicy>>([
    { oneShot: { ...SHOT, tolerated: 0 } },
    { oneShot: { ...SHOT, authorityNoise: true } },
    { oneShot: { ...SHOT, epochMs: 1 } },
    { oneShot: { ...SHOT, stepUpdates: 64 } },
    { oneShot: { ...SHOT, stepWindowMs: 1 } },
    { oneShot: { ...SHOT, versionMinimum: 1 } },
    { oneShot: { ...SHOT, minIntervalMs: 1 } },
    { oneShot: { ...SHOT, departMs: 1 } },
    { oneShot: { ...SHOT, stepUpdates: 50, combine: 'trimmed' } },
    { oneShot: { ...SHOT, sealing: 'x25519+mlkem768' } },
    { clip: 0.5 },
    { training: { ...DEFAULT_TRAINING, learningRate: 0.2 } },
    { training: { ...DEFAULT_TRAINING, epochs: 2 } },
    { training: { ...DEFAULT_TRAINING, batchSize: 11 } },
    { training: { ...DEFAULT_TRAINING, loss: 'own' } },
  ])('with %o is another task, and reads as it was written', (change) => {
    const changed = { ...policy, ...change };
    expect(TaskPolicy.decode(TaskPolicy.encode(changed))).toEqual(changed);
    expect(taskIdOf(nodeSuite, changed)).not.toEqual(taskIdOf(nodeSuite, policy));
  });

  it('takes a step of at most 64 batches, and a trimmed mean of five or more', () => {
    const stepOf = (stepUpdates: number, combine: OneShotPolicy['combine'] = 'mean') =>
      problemOf(1, 1, { stepUpdates, combine }, { bufferSize: 10, minimum: 8 });
    expect([stepOf(1), stepOf(640), stepOf(50, 'trimmed')]).toEqual([undefined, undefined, undefined]);
    for (const wrong of [stepOf(0), stepOf(641)]) expect(wrong).toContain('stepUpdates must be from 1 to 640');
    expect(stepOf(49, 'trimmed')).toContain('stepUpdates must be from 50 to 640 (trimmed of batches of 10)');
  });

  it('may let batches mix versions that each have from 1 to Kmin updates', () => {
    const mixed = (versionMinimum: number | undefined) =>
      problemOf(1, 1, { versionMinimum }, { bufferSize: 10, minimum: 8 });
    expect([mixed(undefined), mixed(1), mixed(8)]).toEqual([undefined, undefined, undefined]);
    for (const wrong of [mixed(0), mixed(9)]) expect(wrong).toContain('versionMinimum must be from 1 to minimum (8)');
  });

  it.each(['epochMs', 'stepWindowMs'] as const)('without %s cannot be written', (name) => {
    const oneShot = { ...(policy.oneShot as OneShotPolicy), [name]: 0 };
    expect(() => TaskPolicy.encode({ ...policy, oneShot })).toThrow('at least a millisecond');
  });
});
