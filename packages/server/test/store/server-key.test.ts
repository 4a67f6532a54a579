/** Nodes of one server have one key. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { serverKey } from '../../src/store/open-store.ts';

it('a key is made once, and never for a folder that holds tasks', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'basa-key-'));
  await expect(serverKey(folder, { mayMake: false })).rejects.toThrow('server.key is missing or is not a key');
  const made = await serverKey(folder, { mayMake: true });
  expect(await serverKey(folder, { mayMake: false })).toEqual(made);
});
