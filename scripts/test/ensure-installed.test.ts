/** What `npm run setup` says where npm fails, by what npm failed with. */
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';

const clone = mkdtempSync(join(tmpdir(), 'basa-setup-'));
afterAll(() => rmSync(clone, { recursive: true }));
mkdirSync(join(clone, 'scripts'));
mkdirSync(join(clone, 'bin'));
copyFileSync(fileURLToPath(new URL('../ensure-installed.mjs', import.meta.url)), join(clone, 'scripts', 'setup.mjs'));
writeFileSync(join(clone, 'package-lock.json'), JSON.stringify({ packages: {} }));

/** With a program in the place of npm that fails as npm does. */
function setUp(code: string): string {
  const npm = join(clone, 'bin/npm');
  writeFileSync(npm, `#!/bin/sh\necho 'npm error code ${code}' >&2\nexit 1\n`);
  chmodSync(npm, 0o755);
  const PATH = `${join(clone, 'bin')}${delimiter}${process.env['PATH']}`;
  const { stderr, status } = spawnSync(process.execPath, [join(clone, 'scripts', 'setup.mjs')], {
    env: { ...process.env, PATH },
    encoding: 'utf8',
  });
  expect(status).toBe(1);
  return stderr;
}

it.each([
  ['EACCES', 'belong to the user who runs this, without sudo'],
  ['ENOSPC', 'free some space'],
  ['ENOTFOUND', 'check that the npm registry can be reached'],
])('after %s the advice is to %s', (code, advice) => {
  const said = setUp(code);
  expect(said).toContain(`npm error code ${code}`);
  expect(said).toContain(advice);
});
