/** `npm run setup`: its request to npm, and its message if npm fails. */
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

const RUNS = { 'node_modules/runs': { version: '1.0.0' } };
const TOOL = { 'node_modules/tool': { version: '2.0.0', dev: true } };
const OTHER_PLATFORM = { 'node_modules/other': { version: '3.0.0', optional: true } };
writeFileSync(
  join(clone, 'package-lock.json'),
  JSON.stringify({ packages: { '': {}, ...RUNS, ...TOOL, ...OTHER_PLATFORM } }),
);

/** With a program in the place of npm. */
function setUp(npmProgram: string, ...words: readonly string[]) {
  const npm = join(clone, 'bin/npm');
  writeFileSync(npm, `#!/bin/sh\n${npmProgram}\n`);
  chmodSync(npm, 0o755);
  const PATH = `${join(clone, 'bin')}${delimiter}${process.env['PATH']}`;
  const env = { ...process.env, PATH };
  return spawnSync(process.execPath, [join(clone, 'scripts', 'setup.mjs'), ...words], { env, encoding: 'utf8' });
}

/** Lets node_modules hold these and nothing else. */
function install(packages: Readonly<Record<string, object>>): void {
  rmSync(join(clone, 'node_modules'), { recursive: true, force: true });
  for (const path of ['node_modules', ...Object.keys(packages)]) mkdirSync(join(clone, path));
  writeFileSync(join(clone, 'node_modules/.package-lock.json'), JSON.stringify({ packages }));
}

it.each([
  ['start', 'nothing', {}, 'ci --omit=dev'],
  ['start', 'what it runs on', RUNS, undefined],
  ['start', 'everything', { ...RUNS, ...TOOL }, undefined],
  ['start', 'another version', { 'node_modules/runs': { version: '0.9.0' } }, 'ci --omit=dev'],
  ['all', 'nothing', {}, 'ci --include=dev'],
  ['all', 'what `npm start` runs on', RUNS, 'install --no-save --include=dev'],
  ['all', 'everything', { ...RUNS, ...TOOL }, undefined],
  ['all', 'another version', { ...TOOL, 'node_modules/runs': { version: '0.9.0' } }, 'ci --include=dev'],
] as const)('for %s, where node_modules holds %s, npm is asked for what is missing', (level, _, installed, asked) => {
  install(installed);
  const { stderr, status } = setUp('echo "asked for $*" >&2', ...(level === 'start' ? ['start'] : []));
  expect(status).toBe(0);
  expect(/asked for (\w+(?: --(?:omit|include|no-save)\S*)*)/.exec(stderr)?.[1]).toBe(asked);
});

it.each([
  ['EACCES', 'make sure that you own'],
  ['ENOSPC', 'free some space'],
  ['ENOTFOUND', 'check that the npm registry can be reached'],
])('after %s the advice is to %s', (code, advice) => {
  install({});
  const { stderr, status } = setUp(`echo 'npm error code ${code}' >&2\nexit 1`);
  expect(status).toBe(1);
  expect(stderr).toContain(`npm error code ${code}`);
  expect(stderr).toContain(advice);
});
