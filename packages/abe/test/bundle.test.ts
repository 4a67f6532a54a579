/** The package in a browser bundle. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { createMclGroup } from '@basa/abe';
import { build } from 'vite';
import { expect, it } from 'vitest';

it('a bundle for browsers carries mcl, runs, and does not carry noble', async () => {
  const entry = fileURLToPath(new URL('../src/index.ts', import.meta.url));
  const output = await build({
    configFile: false,
    logLevel: 'error',
    resolve: { conditions: ['@basa/source', 'browser', 'import', 'default'] },
    build: { write: false, minify: false, lib: { entry, formats: ['es'], fileName: 'abe' } },
  });
  const chunks = (Array.isArray(output) ? output : [output]).flatMap((result) =>
    'output' in result ? result.output : [],
  );
  const code = chunks.map((chunk) => (chunk.type === 'chunk' ? chunk.code : '')).join('\n');
  expect(code.includes('_mclBn_init')).toBe(true);
  expect(/hashToCurve|Fp12/.test(code)).toBe(false); // names out of noble-curves
  const folder = mkdtempSync(join(tmpdir(), 'basa-bundle-'));
  try {
    writeFileSync(join(folder, 'abe.mjs'), code);
    const bundle = (await import(pathToFileURL(join(folder, 'abe.mjs')).href)) as {
      createMclGroup: typeof createMclGroup;
    };
    expect((await bundle.createMclGroup()).name).toBe('mcl'); // after its known-answer test
  } finally {
    rmSync(folder, { recursive: true });
  }
});
