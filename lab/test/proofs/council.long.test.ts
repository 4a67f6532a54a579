/** With as many authorities on its side as a council withstands a server learns the sum of the closed set; with one more, more. */
import { seededWords } from '@basa/virtual-time/simulation';
import { describe, expect, it } from 'vitest';
import { judgeCouncil } from '../../src/proofs/oracle/council.ts';
import { importPatched } from '../../src/proofs/patched-core.ts';

const SCHEDULES = 600;

describe('a server that tells every authority another story', () => {
  it.each([
    [4, 3, 0],
    [4, 3, 1],
    [5, 4, 2],
    [3, 3, 2],
    [2, 2, 1],
  ])(
    'learns nothing of %d authorities, %d needed, with %d of them on its side',
    (authorities, threshold, colluding) => {
      const verdict = judgeCouncil({ authorities, threshold, colluding }, SCHEDULES, seededWords(1));
      expect(verdict).toMatchObject({ schedules: SCHEDULES, leaks: 0 });
    },
  );

  it.each([
    [4, 3, 2],
    [3, 2, 1],
    [5, 3, 1],
  ])(
    'is found out to learn more of %d authorities, %d needed, with %d of them',
    (authorities, threshold, colluding) => {
      const verdict = judgeCouncil({ authorities, threshold, colluding }, SCHEDULES, seededWords(1));
      expect(verdict.leaks).toBeGreaterThan(0);
    },
  );

  it('finds the sum if it tells all of them the same: the oracle is not blind', () => {
    expect(
      judgeCouncil({ authorities: 4, threshold: 3, colluding: 1 }, SCHEDULES, seededWords(1)).sums,
    ).toBeGreaterThan(0);
  });
});

describe('a core that releases without the votes', () => {
  it('leaks to a server without colluders: split sets', async () => {
    const { judgeCouncil: judge } = await importPatched<{ judgeCouncil: typeof judgeCouncil }>(
      'lab/src/proofs/oracle/council.ts',
      [
        {
          file: 'packages/protocol/src/authority/close.ts',
          find: 'if (isDecided || others + 1 >= descriptor.threshold) return',
          replace: 'if (isDecided || others + 1 >= 0) return',
        },
      ],
    );
    const verdict = judge({ authorities: 4, threshold: 3, colluding: 0 }, SCHEDULES, seededWords(1));
    expect(verdict.leaks).toBeGreaterThan(0);
  });
});
