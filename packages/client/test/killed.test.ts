/** A client process that is killed at a step, and started again on the same folder, contributes exactly once. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { asBundle } from '@basa/testkit/root.ts';
import { expect, it } from 'vitest';
import { deltaOf, optionsFor } from './support/connect.ts';
import { accepted, startClient, startServices, temporaryFolder } from './support/setup.ts';

const program = fileURLToPath(new URL('support/killed-client.ts', import.meta.url));

it.each(['mask', 'upload'])('killed at step %s', async (step) => {
  const services = await startServices();
  const identity = join(temporaryFolder(), 'device');
  const settings = JSON.stringify({ ...optionsFor(services), identity, pieceBytes: 64 });
  const flags = [...asBundle(program), settings, step];
  const [, signal] = (await once(spawn(process.execPath, flags, { stdio: 'inherit' }), 'exit')) as [null, string];
  expect(signal).toBe('SIGKILL');
  const client = await startClient(services, { identity, pieceBytes: 64 });
  expect(client.isInterrupted).toBe(step === 'upload');
  accepted(step === 'mask' ? await client.contribute(deltaOf(3), { trainedOn: 0 }) : await client.resume());
  expect(services.accepted.size).toBe(1);
  expect(await client.contribute(deltaOf(3), { trainedOn: 0 })).toMatchObject({ reason: 'version-given' });
});
