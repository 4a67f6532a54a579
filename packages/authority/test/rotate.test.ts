/** Another secret for the keys at rest: all of them or none, and nothing else changes. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AUTHORITY_PATH } from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import { afterEach, expect, it } from 'vitest';
import { rotateVault } from '../src/index.ts';
import { ask } from './asking.ts';
import { PAPER } from './conformance/paper.ts';
import { cleanUp, freshHome, start, stop } from './homes.ts';
import { shotScene, shotStage, standOf } from './one-shot/shot-world.ts';

afterEach(cleanUp);

it('the keys open only with the new secret, and are the same as before', async () => {
  const home = freshHome();
  const first = await start(home, { unsafePaperMode: true });
  const scene = await shotScene(first, 2);
  const paper = AUTHORITY_PATH.unsafePaperSealingKey((await shotStage([first], 0, PAPER)).task);
  const { bytes: sealingKey } = await ask(first, paper);
  const settings = [`dataFolder=${home.dataFolder}`, `keyFile=${home.keyFile}`, 'port=0'];
  const keyFile = join(home.root, 'new-key');
  writeFileSync(keyFile, nodeRandomBytes(32), { mode: 0o600 });
  const places = { environment: {}, settings };
  await expect(rotateVault(places, { keyFile })).rejects.toMatchObject({ reason: 'inUse' });
  await stop(first);

  await expect(rotateVault(places, { passphrase: 'short' })).rejects.toMatchObject({ reason: 'keys' });
  expect(await rotateVault(places, { keyFile })).toEqual({ sealedKeys: 1 });
  await expect(start(home)).rejects.toThrow('the key file does not open the keys');
  await expect(rotateVault(places, { keyFile })).rejects.toMatchObject({ reason: 'keys' });

  const again = await start({ ...home, keyFile }, { unsafePaperMode: true });
  expect(again.publicKey).toEqual(first.publicKey);
  expect(await standOf(again, scene)).toBe('live');
  expect((await ask(again, paper)).bytes).toEqual(sealingKey);
});
