/** `npm run write -- folders`: the folders of a small federation, which later versions must go on with (test/services/data-folders.test.ts). */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BasaClient } from '@basa/client/node';
import { ENGINE } from '@basa/protocol';
import { bundleProcesses } from '@basa/testkit/processes/bundle.ts';
import { TestProcesses } from '@basa/testkit/processes/test-processes.ts';
import { ROOT } from '@basa/testkit/root.ts';

const DIMENSION = 16;
const DEVICES = ['device-1', 'device-2'] as const;

const out = mkdtempSync(join(tmpdir(), 'basa-folders-'));
const policy = { dimension: DIMENSION, bufferSize: DEVICES.length, minimum: DEVICES.length, engine: ENGINE.slotKeys };
const basa = await TestProcesses.open({ bundle: await bundleProcesses(), policy });
try {
  const tokens = await basa.authority.tokens(basa.task, DEVICES.length, Date.now() + 86_400_000);
  await Promise.all(DEVICES.map((name, n) => contribute(name, n, tokens[n] ?? '')));
  while (((await basa.server.task(basa.task)).version ?? 0) < 1) await new Promise((wait) => setTimeout(wait, 100));
  await basa.stop('server');
  await basa.stop('authority');
  for (const name of ['server', 'authority', 'authority.key', 'authority.witness'])
    cpSync(join(basa.folder, name), join(out, name), { recursive: true });
  const { task, authorityKey } = basa;
  writeFileSync(join(out, 'about.json'), `${JSON.stringify({ task, authorityKey, dimension: DIMENSION })}\n`);
  const file = join(ROOT, 'test/fixtures/data-0.3.tar.gz');
  execFileSync('tar', ['-C', out, '--exclude=basa.lock', '--owner=0', '--group=0', '--sort=name', '-czf', file, '.']);
  console.log(`wrote ${file}`);
} finally {
  await basa.close();
  rmSync(out, { recursive: true, force: true });
}

async function contribute(name: string, place: number, token: string): Promise<void> {
  const client = await BasaClient.connect({ ...basa.services, identity: join(out, name), token });
  const delta = new Float32Array(DIMENSION);
  delta[place] = 1;
  const { version } = await client.model();
  await client.contribute(delta, { trainedOn: version });
  await client.close();
}
