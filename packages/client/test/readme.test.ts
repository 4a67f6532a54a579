/** The snippet of the README runs as it is written, as a process of its own. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toHex } from '@basa/masking';
import { readPage, runSnippet, snippetsOf } from '@basa/testkit/pages/snippets.ts';
import { expect, it } from 'vitest';
import { startServices } from './support/setup.ts';

const README = 'packages/client/README.md';

it('enrols, contributes, asks what became of it, and comes back as the same device', async () => {
  const [snippet] = snippetsOf(readPage(README));
  expect(snippet?.code.trim().split('\n').length).toBeLessThanOrEqual(12);
  const privacy = { noiseMultiplier: 0.5, colluders: 0, budget: undefined };
  const services = await startServices({ policy: { minimum: 3, privacy } });
  const cwd = mkdtempSync(join(tmpdir(), 'basa-client-readme-'));
  try {
    const environment = {
      BASA_SERVER: services.serverUrl,
      BASA_AUTHORITY: services.authorityUrl,
      BASA_TASK: services.world.task,
      BASA_AUTHORITY_KEY: toHex(services.authorityKey),
      BASA_ENROLMENT_TOKEN: services.tokens[0] as string,
    };
    expect(await runSnippet(README, { cwd, environment })).toBe('waiting\n');
    expect(await runSnippet(README, { cwd, environment })).toBe('version-given\n');
    expect(existsSync(join(cwd, 'my-device/journal'))).toBe(true);
  } finally {
    rmSync(cwd, { recursive: true });
  }
});
