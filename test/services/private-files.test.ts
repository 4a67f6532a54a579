/** Whatever services and devices write is for their owner alone. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { backupAuthority } from '@basa/authority';
import { toHex } from '@basa/masking';
import { backupServer } from '@basa/server';
import { House, oneHot } from '@basa/testkit/services/house.ts';
import { afterEach, expect, it } from 'vitest';

let house: House;
afterEach(() => house.close());

/** What others than the owner could read, write or enter. */
function openTo(path: string): readonly string[] {
  const { mode } = statSync(path);
  const below = statSync(path).isDirectory() ? readdirSync(path).map((name) => join(path, name)) : [];
  return [...((mode & 0o077) === 0 ? [] : [path]), ...below.flatMap(openTo)];
}

it('databases, logs, locks, keys, blobs, journals, the witness and backups', async () => {
  const umask = process.umask(0);
  try {
    house = await House.open({ policy: { bufferSize: 2 } });
    const clients = await Promise.all(['a', 'b', 'c'].map((name) => house.client(name)));
    for (const [n, client] of clients.entries()) await client.contribute(oneHot(n), { trainedOn: 0 });
    await house.reached(1);
    const [server, authority] = [join(house.folder, 'server'), join(house.folder, 'authority')];
    const environment = {};
    const keys = { authorityUrl: house.authority.url, authorityKey: toHex(house.authority.publicKey) };
    await backupServer({ environment, overrides: { dataFolder: server, port: 0, ...keys } }, `${server}.backup`);
    const keyFile = join(house.folder, 'authority.key');
    await backupAuthority(
      { environment, overrides: { dataFolder: authority, port: 0, keyFile } },
      `${authority}.backup`,
    );
    const made = [server, authority, `${authority}.witness`, `${server}.backup`, `${authority}.backup`];
    expect(made.flatMap(openTo)).toEqual([]);
    for (const device of readdirSync(join(house.folder, 'devices')))
      expect(openTo(join(house.folder, 'devices', device))).toEqual([]);
  } finally {
    process.umask(umask);
  }
});
