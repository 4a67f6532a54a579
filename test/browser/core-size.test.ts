/** How much of the code a tab loads before it knows whether it will take part, and what only a worker loads. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { bundlePages } from '@basa/testkit/browser/bundle-pages.ts';
import { loadedAtOnce } from '@basa/testkit/browser/loaded-at-once.ts';
import type { Metafile } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'basa-bundle-'));
let outputs: Metafile['outputs'];
beforeAll(async () => {
  outputs = await bundlePages(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** An entry and everything it imports without being asked. */
function loadedBy(entry: string): readonly string[] {
  const start = Object.keys(outputs).find((path) => basename(path) === entry);
  if (start === undefined) throw new Error(`no ${entry}`);
  return loadedAtOnce(outputs, start);
}

const sourcesOf = (paths: readonly string[]): readonly string[] =>
  paths
    .flatMap((path) => Object.entries(outputs[path]?.inputs ?? {}))
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .map(([source]) => source);

it('protocol, masking and client are below 60 kB compressed; cryptography and trainer come on demand', () => {
  const core = loadedBy('device-worker.js');
  const bytes = core.reduce((sum, path) => sum + gzipSync(readFileSync(join(root, path))).length, 0);
  console.log(`the core of a tab has ${bytes} bytes compressed`);
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThan(60_000);
  const sources = sourcesOf(core).join('\n');
  expect(sources).toMatch(/packages\/client\/src\/basa-client\.ts/);
  expect(sources).toMatch(/packages\/masking\/src\/apply-masks\.ts/);
  expect(sources).not.toMatch(/mcl|@noble|kernel-engine|reference-engine|training-bytes/);
});

it('the page itself holds no client, no mask and no trainer: only its worker does', () => {
  const sources = sourcesOf(loadedBy('join.js')).join('\n');
  expect(sources).toMatch(/dashboard\/src\/web\/join\/main\.ts/);
  expect(sources).not.toMatch(/packages\/client|apply-masks|packages\/abe|packages\/learning|vector-kernel|mcl/);
});
