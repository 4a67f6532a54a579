/** Whom a process looks after because they started it (processes.long.test.ts kills them), and the folders that it proposes. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newFolder, startersOf, whenGone } from '../src/shell/process.ts';

it.each([
  ['a person in a shell', {}],
  ['an npm that is not above it', { npm_command: 'run-script' }],
])('looks after nobody where it was started by %s', (_, environment) => {
  const nobody = 2 ** 22 + 1; // no process has this number, so nothing is above it
  expect(startersOf(nobody, environment)).toEqual([]);
});

it('tells once that one of them is gone', async () => {
  const starter = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  let told = 0;
  const gone = new Promise<void>((resolve) => {
    whenGone([process.pid, starter.pid as number], () => {
      told++;
      resolve();
    });
  });
  starter.kill('SIGKILL');
  const kept = setInterval(() => {}, 1000); // the watch itself keeps no process alive
  await gone;
  clearInterval(kept);
  expect(told).toBe(1);
});

it('a folder that exists is not proposed for a new device', () => {
  const here = mkdtempSync(join(tmpdir(), 'basa-folder-'));
  const name = join(here, 'my-device');
  expect(newFolder(name)).toBe(name);
  mkdirSync(name);
  mkdirSync(`${name}-2`);
  expect(newFolder(name)).toBe(`${name}-3`);
  rmSync(here, { recursive: true });
});
