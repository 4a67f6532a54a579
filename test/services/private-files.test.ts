/** Everything that services and devices write is only for their owner. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { backupAuthority } from '@basa/authority';
import { toHex } from '@basa/masking';
import { backupServer } from '@basa/server';
import { oneHot, TestServices } from '@basa/testkit/services/test-services.ts';
import { afterEach, expect, it } from 'vitest';

let services: TestServices;
afterEach(() => services.close());

/** Files that others than the owner could read, write or enter. */
function openTo(path: string): readonly string[] {
  const { mode } = statSync(path);
  const below = statSync(path).isDirectory() ? readdirSync(path).map((name) => join(path, name)) : [];
  return [...((mode & 0o077) === 0 ? [] : [path]), ...below.flatMap(openTo)];
}

it('databases, logs, locks, keys, blobs, journals and backups', async () => {
  const umask = process.umask(0);
  try {
    services = await TestServices.open({ policy: { bufferSize: 2 } });
    const clients = await Promise.all(['a', 'b', 'c'].map((name) => services.client(name)));
    for (const [n, client] of clients.entries()) await client.contribute(oneHot(n), { trainedOn: 0 });
    await services.reached(1);
    const [server, authority] = [join(services.folder, 'server'), join(services.folder, 'authority')];
    const environment = {};
    const keys = { authorityUrl: services.authority.url, authorityKey: toHex(services.authority.publicKey) };
    await backupServer({ environment, overrides: { dataFolder: server, port: 0, ...keys } }, `${server}.backup`);
    const keyFile = join(services.folder, 'authority.key');
    await backupAuthority(
      { environment, overrides: { dataFolder: authority, port: 0, keyFile } },
      `${authority}.backup`,
    );
    const made = [server, authority, `${server}.backup`, `${authority}.backup`];
    expect(made.flatMap(openTo)).toEqual([]);
    for (const device of readdirSync(join(services.folder, 'devices')))
      expect(openTo(join(services.folder, 'devices', device))).toEqual([]);
  } finally {
    process.umask(umask);
  }
});
