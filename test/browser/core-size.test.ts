/** The amount of code that a tab loads before it knows whether it will take part, and the code that only a worker loads. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { bundlePages, loadedAtOnce } from '@basa/testkit/browser/bundle-pages.ts';
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

const bytesOf = (paths: readonly string[]): number =>
  paths.reduce((sum, path) => sum + gzipSync(readFileSync(join(root, path))).length, 0);

it('protocol, masking and client are below 60 kB compressed; cryptography and trainer come on demand', () => {
  const core = loadedBy('device-worker.js');
  const bytes = bytesOf(core);
  console.log(`the core of a tab has ${bytes} bytes compressed`);
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThan(60_000);
  const sources = sourcesOf(core).join('\n');
  expect(sources).toMatch(/packages\/client\/src\/client\.ts/);
  expect(sources).toMatch(/packages\/masking\/src\/apply-masks\.ts/);
  expect(sources).not.toMatch(/mcl|@noble|kernel-backend|reference-backend|training-bytes/);
});

/** Everything that `entry` may load, now or on demand. */
function reachableFrom(entry: string): readonly string[] {
  const seen = new Set(loadedBy(entry));
  for (const path of seen)
    for (const { path: next } of outputs[path]?.imports ?? [])
      for (const more of loadedAtOnce(outputs, next)) seen.add(more);
  return [...seen];
}

it('a device of a one-shot task loads no pairing library', () => {
  const isPairing = (path: string): boolean => /packages\/abe|mcl-wasm/.test(sourcesOf([path]).join('\n'));
  const all = reachableFrom('device-worker.js');
  const [withPairing, without] = [all.filter(isPairing), all.filter((path) => !isPairing(path))];
  console.log(`a device has ${bytesOf(without)} bytes compressed in one-shot mode, ${bytesOf(all)} in paper mode`);
  expect(withPairing.length).toBeGreaterThan(0);
  // The chunk with the pairing is reached only through one import, which a task in paper mode uses.
  const importers = without.filter((path) =>
    outputs[path]?.imports.some(({ path: next }) => withPairing.includes(next)),
  );
  expect(sourcesOf(importers).filter((source) => source.endsWith('web/src/web/join/device.ts'))).toHaveLength(1);
  expect(importers).toHaveLength(1);
});

it('only a task that asks for it loads ML-KEM', () => {
  const isKem = (path: string): boolean => /@noble\/post-quantum/.test(sourcesOf([path]).join('\n'));
  const all = reachableFrom('device-worker.js');
  const kem = all.filter(isKem);
  console.log(`ML-KEM has ${bytesOf(kem)} bytes compressed`);
  expect(kem).toHaveLength(1);
  expect(bytesOf(kem)).toBeLessThan(15_000);
  const imports = all.flatMap((path) => outputs[path]?.imports ?? []).filter(({ path }) => kem.includes(path));
  expect(imports.map(({ kind }) => kind)).toEqual(['dynamic-import']);
});

it('the page itself holds no client, no mask and no trainer: only its worker does', () => {
  const sources = sourcesOf(loadedBy('join.js')).join('\n');
  expect(sources).toMatch(/packages\/web\/src\/web\/join\/main\.ts/);
  expect(sources).not.toMatch(/packages\/client|apply-masks|packages\/abe|packages\/learning|vector-kernel|mcl/);
});
