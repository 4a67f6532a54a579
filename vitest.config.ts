import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

export default defineConfig({
  resolve: { conditions: ['@basa/source'] },
  ssr: { resolve: { conditions: ['@basa/source', 'node'] } },
  test: {
    include: ['packages/*/test/**/*.test.ts', 'test/**/*.test.ts'],
    // Only a hang is an error: how fast a machine is, is not.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    // All cores: by default one is kept free, which is half of a small machine.
    maxWorkers: '100%',
    sequence: { sequencer: LongestFirst },
  },
});
