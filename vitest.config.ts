import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/longest-first.ts';

/** Files that change the whole process for good: V8's flags. */
const ALONE = ['packages/runtime/test/training-kernel.test.ts', 'test/relaxed-training.test.ts'];

/** Tests that take long are a command of their own: `npm run lab -- trial tests`. */
const LONG = '**/*.long.test.ts';
/** `npm run test:quick`: the pure packages without their slowest files, under a minute on two cores. */
const QUICK =
  'packages/{masking,protocol,abe,learning}/test/**/!(gradients|real-sealing|distinguisher|second-implementation).test.ts';
const isLong = process.env['BASA_LONG_TESTS'] === '1';
const ALL = ['packages/*/test/**/*.test.ts', '{lab/,scripts/,}test/**/*.test.ts'];
const projects = isLong
  ? [
      {
        extends: true as const,
        test: { name: 'long', include: ALL.map((files) => files.replace('*.test.ts', '*.long.test.ts')) },
      },
    ]
  : [
      // Files share a process and its modules: loading those anew for each file took 200 s, and tests 1080.
      {
        extends: true as const,
        test: { name: 'tests', include: ALL, exclude: [...ALONE, QUICK, LONG], isolate: false },
      },
      { extends: true as const, test: { name: 'quick', include: [QUICK], exclude: [LONG], isolate: false } },
      { extends: true as const, test: { name: 'alone', include: ALONE } },
    ];

export default defineConfig({
  test: {
    projects,
    // Node itself runs the tests, as it runs our programs: Vite's way to call from one module into another made them twice as slow.
    // So nothing can be mocked by the name of its module, which no test here does.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: ['--import', new URL('./scripts/typescript.mjs', import.meta.url).href, '--conditions=@basa/source'],
    // Only a hang is an error: how fast a machine is, is not.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    expect: { poll: { timeout: 900_000 } },
    // Two workers more than cores: tests of services wait for processes, browsers and clocks, and a core would be idle meanwhile.
    maxWorkers: availableParallelism() + 2,
    // The remains of a file would be found by the next.
    unstubEnvs: true,
    restoreMocks: true,
    sequence: { sequencer: LongestFirst },
  },
});
