/** Claims: what counts as seen, and that only the same seeds are compared. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MNIST } from '@basa/lab/experiments/tasks/tasks.ts';
import { CELL } from '@basa/simulator/virtual-time';
import { describe, expect, it } from 'vitest';
import { claimLines } from '../../src/experiments/report/claim-lines.ts';
import { ordering } from '../../src/experiments/report/outcome.ts';
import { claimsOf, readClaims } from '../../src/experiments/report/summary.ts';
import { intervalOf } from '../../src/experiments/report/verdict.ts';
import type { CellResult } from '../../src/experiments/run/grid.ts';
import { overPoints, overSeeds, pairOf } from '../../src/experiments/studies/protocol-cells.ts';

function result(seed: number, seconds: number, isReached = true): CellResult {
  return {
    cell: { ...CELL, task: MNIST, protocol: 'no SA', seed },
    seconds,
    versions: seconds,
    isReached,
    secondsPerVersion: seconds / 10,
    trips: 0,
    lost: 0,
    droppedOut: 0,
    meanStaleness: 0,
    meanAge: 0,
    utilisation: {},
    trained: { accuracy: [], reached: 1, wholeAccuracy: 0, samples: 0, clipped: 0, partySums: 0 },
    curve: [],
    trajectory: '',
  };
}

const found = (...results: readonly CellResult[]) => overSeeds(results, () => true);

it('claims of a study that two folders have are those of the first', () => {
  const root = mkdtempSync(join(tmpdir(), 'basa-claims-'));
  const folderOf = (name: string, claims: object): string => {
    const folder = join(root, name);
    mkdirSync(folder);
    writeFileSync(join(folder, 'claims.json'), JSON.stringify(claims));
    return folder;
  };
  const claim = (study: string, verdict: string) => ({ study, claim: 'x', source: 'ours', verdict });
  const newer = folderOf('newer', [claim('table1', 'holds')]);
  const older = folderOf('older', [claim('table1', 'does not hold'), claim('privacy', 'holds')]);
  expect(readClaims([newer, older])).toEqual([claim('table1', 'holds'), claim('privacy', 'holds')]);
  expect(readClaims([join(root, 'nowhere')])).toBeUndefined();
  rmSync(root, { recursive: true });
});

describe('a claim', () => {
  it('about the mean over points compares only seeds that have every point', () => {
    const ours = overPoints([found(result(1, 2), result(2, 8)), found(result(1, 8), result(2, 2), result(3, 1))]);
    const theirs = overPoints([found(result(1, 1), result(2, 1)), found(result(1, 4), result(2, 4))]);
    expect(pairOf('here', ours, theirs)).toEqual(['here', expect.closeTo(4), 2, false, [expect.closeTo(2), 2]]);
    expect(pairOf('here', overPoints([found(result(1, 2)), undefined]), theirs)).toEqual([
      'here',
      undefined,
      undefined,
    ]);
    const givenUp = overPoints([found(result(1, 2)), found(result(1, 2, false))]);
    expect(pairOf('here', givenUp, theirs)[3]).toBe(true);
  });

  it('about cells that were not trained is not decided', () => {
    expect(ordering('x', [['here', undefined, 2]]).verdict).toBe('not decided');
    expect(ordering('x', []).verdict).toBe('not decided');
  });

  it('is decided by the interval over paired seeds, never by one seed', () => {
    const verdict = (...ratios: number[]): string => ordering('x', [['a', 1, 1, false, ratios]], 1.1).verdict;
    expect(verdict(0.5)).toBe('not decided');
    expect(verdict(0.9, 1.0, 0.95, 1.05)).toBe('holds');
    expect(verdict(1.3, 1.4, 1.35, 1.5)).toBe('does not hold');
    expect(verdict(0.8, 1.3, 1.0, 1.2)).toBe('not decided');
  });

  it('has the interval of Student for the geometric mean', () => {
    const [low, high] = intervalOf([1, Math.E ** 2, Math.E ** 4]);
    expect([Math.log(low), Math.log(high)]).toEqual([
      expect.closeTo(2 - (4.303 * 2) / Math.sqrt(3), 9),
      expect.closeTo(2 + (4.303 * 2) / Math.sqrt(3), 9),
    ]);
  });

  it('holds if it holds in every place that was checked; one counterexample refutes it', () => {
    expect(ordering('x', [['a', 1, 2]]).verdict).toBe('holds');
    const two = ordering('x', [
      ['a', 1, 2],
      ['b', 3, 2],
    ]);
    expect([two.verdict, two.seen.map(({ verdict }) => verdict)]).toEqual([
      'does not hold',
      ['holds', 'does not hold'],
    ]);
    expect(ordering('x', [['b', 3, 2]], 1.5).verdict).toBe('holds');
  });

  it('is printed with the evidence against it, and is not judged by a smoke run', () => {
    const orderings = [ordering('a is faster', [['K = 4', 3, 2]])];
    const lines = (profile: string) => claimLines({ profile, orderings }).slice(1);
    expect(lines('small')).toEqual(['  does not hold  a is faster', expect.stringContaining('K = 4: 3 against 2')]);
    expect(lines('smoke')).toEqual(['  not judged     a is faster']);
  });

  it('loses every comparison if its run was given up', () => {
    expect(ordering('x', [['a', 1, 2, true]]).verdict).toBe('does not hold');
  });

  it('is listed with its study', () => {
    const outcome = { title: '', profile: 'small', rows: [], tables: [], figures: [], notes: [] };
    const orderings = [ordering('x', [['a', 1, 2]]), ordering('y', [])];
    expect(claimsOf([{ ...outcome, experiment: 'table1', orderings }])).toEqual([
      { study: 'table1', claim: 'x', source: 'ours', verdict: 'holds', seen: 'a: 1 against 2' },
      { study: 'table1', claim: 'y', source: 'ours', verdict: 'not decided', seen: '' },
    ]);
  });
});

describe('two cells', () => {
  it('are compared by the seeds that both have', () => {
    const left = found(result(1, 10), result(2, 30));
    const right = found(result(2, 20), result(3, 1000));
    expect(pairOf('here', left, right)).toEqual(['here', 30, 20, false, [1.5]]);
  });

  it('without a seed in common are not compared', () => {
    expect(pairOf('here', found(result(1, 10)), found(result(2, 20)))).toEqual(['here', undefined, undefined]);
    expect(pairOf('here', found(result(1, 10)), undefined)).toEqual(['here', undefined, undefined]);
  });

  it('lose if one of the compared runs was given up, but not because of another seed', () => {
    const right = found(result(1, 20));
    expect(pairOf('here', found(result(1, 10, false)), right)[3]).toBe(true);
    expect(pairOf('here', found(result(1, 10), result(2, 10, false)), right)[3]).toBe(false);
  });
});
