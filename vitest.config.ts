import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['@basa/source'] },
  ssr: { resolve: { conditions: ['@basa/source', 'node', 'import', 'default'] } },
  test: {
    include: ['packages/*/test/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 60_000,
    // All cores: by default one is kept free, which is half of a small machine.
    maxWorkers: '100%',
  },
});
