/** A model in TypeScript beside an installed `basa`: read by Node itself, or by the tsx beside it. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '@basa/testkit/root.ts';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const place = mkdtempSync(join(tmpdir(), 'basa-installed-'));
afterAll(() => rmSync(place, { recursive: true }));

describe('with an installed `basa`, a model in TypeScript', () => {
  const load = async () => {
    const run = promisify(execFile)(process.execPath, ['run.mjs'], {
      cwd: place,
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    return (await run).stdout.trim();
  };
  beforeAll(async () => {
    mkdirSync(join(place, 'node_modules'), { recursive: true });
    writeFileSync(join(place, 'package.json'), '{ "type": "module" }');
    writeFileSync(
      join(place, 'model.ts'),
      'export const model: object = { dimension: 1, manifest: [] }; export const data = (): number => 7;',
    );
    const call =
      "import { loadOwnModel } from './own-model.mjs';\nconsole.log(await loadOwnModel('model.ts').then(({ data }) => data(), String));";
    writeFileSync(join(place, 'run.mjs'), call);
    const source = join(ROOT, 'packages/cli/src/flags/models.ts');
    const outfile = join(place, 'own-model.mjs');
    await build({
      entryPoints: [source],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      conditions: ['@basa/source'],
    });
  });

  it('is read by Node, or refused with the package to install', async () => {
    const readsTypes = Boolean((process.features as { readonly typescript?: unknown }).typescript);
    expect(await load()).toMatch(
      readsTypes ? /^7$/ : /Node [\d.]+ cannot read TypeScript; run `npm install --save-dev tsx`/,
    );
  });

  it('is read with the tsx in its folder', async () => {
    symlinkSync(join(ROOT, 'node_modules/tsx'), join(place, 'node_modules/tsx'));
    expect(await load()).toBe('7');
  });
});
