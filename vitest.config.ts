import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/longest-first.ts';

/** Tests of pure code keep nothing in their modules: many files share one process, which saves starting it. */
const PURE = [
  'packages/{abe,baselines,learning,masking,protocol,simulator}/test/**/*.test.ts',
  'test/{baselines,timed}/**/*.test.ts',
  'tools/verification/test/**/*.test.ts',
];

/** Tests that take long are a command of their own: `npm run trial -- tests`. */
const LONG = '**/*.long.test.ts';
const isLong = process.env['BASA_LONG_TESTS'] === '1';
const ALL = ['{packages,tools}/*/test/**/*.test.ts', '{scripts/,}test/**/*.test.ts'];
const projects = isLong
  ? [
      {
        extends: true as const,
        test: { name: 'long', include: ALL.map((files) => files.replace('*.test.ts', '*.long.test.ts')) },
      },
    ]
  : [
      { extends: true as const, test: { name: 'pure', include: PURE, exclude: [LONG], isolate: false } },
      { extends: true as const, test: { name: 'whole', include: ALL, exclude: [...PURE, LONG] } },
    ];

export default defineConfig({
  resolve: { conditions: ['@basa/source'] },
  ssr: { resolve: { conditions: ['@basa/source', 'node'] } },
  test: {
    projects,
    // Only a hang is an error: how fast a machine is, is not.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    // All cores: by default one is kept free, which is half of a small machine.
    maxWorkers: '100%',
    sequence: { sequencer: LongestFirst },
  },
});
