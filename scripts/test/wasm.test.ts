import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { compileKernels } from '../wasm-kernels.ts';

const compiled = compileKernels();

it('every committed kernel is what its source compiles to, byte for byte', () => {
  expect(compiled.length).toBeGreaterThanOrEqual(2);
  for (const { path, bytes } of compiled) {
    expect(Buffer.compare(readFileSync(path), bytes), `${path} is stale: run npm run write -- wasm`).toBe(0);
  }
});

it('no committed kernel is without a source', () => {
  const folder = new URL('../../packages/runtime/src/wasm/', import.meta.url);
  const names = compiled.map(({ path }) => path.split('/').at(-1));
  expect(readdirSync(folder).sort()).toEqual(names.sort());
});
