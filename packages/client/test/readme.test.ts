/** The snippet of the README runs as it is written, as a process of its own. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { toHex } from '@basa/masking';
import { expect, it } from 'vitest';
import { startServices } from './support/setup.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

it('enrols, contributes, asks for the outcome, and comes back as the same device', async () => {
  const [, snippet = ''] =
    /```ts services\n([\s\S]*?)```/.exec(readFileSync(new URL('../README.md', import.meta.url), 'utf8')) ?? [];
  expect(snippet.trim().split('\n').length).toBeLessThanOrEqual(11);
  const services = await startServices();
  const cache = join(root, 'node_modules/.cache'); // below the root, so that the packages are found
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'basa-client-readme-'));
  try {
    writeFileSync(join(folder, 'snippet.mts'), snippet);
    const env = {
      ...process.env,
      SERVER: services.serverUrl,
      AUTHORITY: services.authorityUrl,
      TASK: toHex(services.world.task),
      AUTHORITY_KEY: toHex(services.world.authority.publicKey),
      TOKEN: 'one',
    };
    const flags = ['--import', 'tsx', '--conditions=@basa/source', 'snippet.mts'];
    const run = () => promisify(execFile)(process.execPath, flags, { cwd: folder, env });
    expect((await run()).stdout).toBe('undecided\n');
    expect((await run()).stdout).toBe('delta-committed\n');
    expect(existsSync(join(folder, 'my-device/journal'))).toBe(true);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
