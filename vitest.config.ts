import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/longest-first.ts';

/** Tests of pure code keep nothing in their modules: many files share one process, which saves starting it. */
const PURE = [
  'packages/{abe,baselines,learning,masking,protocol,simulator}/test/**/*.test.ts',
  'test/{baselines,timed}/**/*.test.ts',
  'tools/verification/test/**/*.test.ts',
];

export default defineConfig({
  resolve: { conditions: ['@basa/source'] },
  ssr: { resolve: { conditions: ['@basa/source', 'node'] } },
  test: {
    projects: [
      { extends: true, test: { name: 'pure', include: PURE, isolate: false } },
      {
        extends: true,
        test: {
          name: 'whole',
          include: ['{packages,tools}/*/test/**/*.test.ts', '{scripts/,}test/**/*.test.ts'],
          exclude: PURE,
        },
      },
    ],
    // Only a hang is an error: how fast a machine is, is not.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    // All cores: by default one is kept free, which is half of a small machine.
    maxWorkers: '100%',
    sequence: { sequencer: LongestFirst },
  },
});
