/** Another secret for the keys at rest: all of them or none, and nothing else changes. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodeRandomBytes } from '@basa/runtime/node';
import { afterEach, expect, it } from 'vitest';
import { rotateVault } from '../src/index.ts';
import { cleanUp, freshHome, start, stop } from './homes.ts';
import { seated, stage } from './parties.ts';

afterEach(cleanUp);

it('the keys open only with the new secret, and issue the same keys as before', async () => {
  const home = freshHome();
  const first = await start(home);
  const world = await stage(first, 2);
  const buffer = await seated(first, world);
  const before = await buffer.askKey(first, 0);
  const settings = [`dataFolder=${home.dataFolder}`, `keyFile=${home.keyFile}`, 'port=0'];
  const keyFile = join(home.root, 'new-key');
  writeFileSync(keyFile, nodeRandomBytes(32), { mode: 0o600 });
  const places = { environment: {}, settings };
  await expect(rotateVault(places, { keyFile })).rejects.toMatchObject({ reason: 'inUse' });
  await stop(first);

  await expect(rotateVault(places, { passphrase: 'short' })).rejects.toMatchObject({ reason: 'keys' });
  expect(await rotateVault(places, { keyFile })).toEqual({ masterKeys: 1 });
  await expect(start(home)).rejects.toThrow('the key file does not open the keys');
  await expect(rotateVault(places, { keyFile })).rejects.toMatchObject({ reason: 'keys' });

  const again = await start({ ...home, keyFile });
  expect(again.publicKey).toEqual(first.publicKey);
  expect((await buffer.askKey(again, 0)).status).toBe(before.status);
  expect((await buffer.askKey(again, 1)).status).toBe(before.status);
});
