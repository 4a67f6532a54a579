import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['@basa/source'] },
  ssr: { resolve: { conditions: ['@basa/source', 'node', 'import', 'default'] } },
  test: {
    include: ['packages/*/test/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 60_000,
  },
});
