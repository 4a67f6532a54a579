/** The store of a device on Node: durable, and private to its owner. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { KIND } from '@basa/protocol/wire';
import { nodeSuite } from '@basa/runtime/node';
import { ROOT } from '@basa/testkit/root.ts';
import { describe, expect, it, vi } from 'vitest';
import { readEntries } from '../src/device/state.ts';
import { openFolderStore } from '../src/node/index.ts';
import { deltaOf } from './support/connect.ts';
import { accepted, startClient, startServices, temporaryFolder } from './support/setup.ts';

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

describe('a folder store', () => {
  it('returns everything that was appended, replaced and put, after it was closed', async () => {
    const folder = join(temporaryFolder(), 'device');
    const first = await openFolderStore(folder);
    expect(await first.entries()).toEqual([]);
    await first.append([bytes(1, 2), bytes()]);
    await first.append([bytes(3)], bytes(9, 9));
    await first.close();
    const second = await openFolderStore(folder);
    expect(second.signer.publicKey).toEqual(first.signer.publicKey);
    expect(await second.entries()).toEqual([bytes(1, 2), bytes(), bytes(3)]);
    expect(await second.body()).toEqual(bytes(9, 9));
    await second.replace([bytes(7)]);
    await second.append([bytes(8)]);
    await second.dropBody();
    await second.dropBody();
    await second.close();
    const third = await openFolderStore(folder);
    expect(await third.entries()).toEqual([bytes(7), bytes(8)]);
    expect(await third.body()).toBeUndefined();
    await third.close();
  });

  it('of an older version is refused with one sentence, and not changed', async () => {
    const folder = temporaryFolder();
    execFileSync('tar', ['-C', folder, '-xzf', join(ROOT, 'test/fixtures/device-0.3.tar.gz')]);
    const device = join(folder, 'device-0.3');
    const before = readFileSync(join(device, 'journal'));
    await expect(openFolderStore(device)).rejects.toThrow(
      `${join(device, 'journal')} belongs to a device of BASA 0.3 or older, and version 1.0 starts afresh; enrol a new device in an empty folder`,
    );
    expect(readFileSync(join(device, 'journal'))).toEqual(before);
    expect(readdirSync(device).sort()).toEqual(['identity.key', 'journal']);
  });

  it.each(['state.json', 'lock'])('refuses a folder of the Python client (%s) and does not change it', async (name) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, name), '');
    await expect(openFolderStore(folder)).rejects.toThrow('Python client');
    expect(readdirSync(folder)).toEqual([name]);
  });

  it('keeps nothing of a body that a crash left half written', async () => {
    const folder = join(temporaryFolder(), 'device');
    const first = await openFolderStore(folder);
    await first.append([], bytes(9, 9));
    await first.close();
    writeFileSync(join(folder, 'body.new'), bytes(1, 2, 3));
    const second = await openFolderStore(folder);
    expect(await second.body()).toEqual(bytes(9, 9));
    await second.close();
    expect(readdirSync(folder)).not.toContain('body.new');
  });

  it('forgets a step that a crash tore, and nothing before it', async () => {
    const folder = join(temporaryFolder(), 'device');
    const journal = join(folder, 'journal');
    const first = await openFolderStore(folder);
    await first.append([bytes(1)]);
    const whole = statSync(journal).size;
    await first.append([bytes(2, 2, 2, 2)]);
    await first.close();
    const full = readFileSync(journal);
    for (let size = whole; size < full.length; size++) {
      writeFileSync(journal, full);
      truncateSync(journal, size);
      const store = await openFolderStore(folder);
      expect(await store.entries()).toEqual([bytes(1)]);
      await store.append([bytes(5)]);
      await store.close();
      const again = await openFolderStore(folder);
      expect(await again.entries()).toEqual([bytes(1), bytes(5)]);
      await again.close();
    }
  });

  it('takes no step of which a full disk wrote only a part', async () => {
    const folder = join(temporaryFolder(), 'device');
    const store = await openFolderStore(folder);
    await store.append([bytes(1)]);
    const file = await open(join(folder, 'journal'));
    const write = vi.spyOn(Object.getPrototypeOf(file), 'write').mockImplementationOnce(function (
      this: FileHandle,
      ...[step, , , at]: readonly unknown[]
    ) {
      return this.writev([(step as Uint8Array).subarray(0, 10)], at as number);
    });
    await expect(store.append([bytes(...Array<number>(100).fill(7))])).rejects.toThrow('is full; free some space');
    write.mockRestore();
    await file.close();
    await store.close();
    const again = await openFolderStore(folder);
    expect(await again.entries()).toEqual([bytes(1)]);
    await again.close();
  });

  it('says of entries of an older version that they are, and of others that they are damaged', () => {
    const certificate = (version: number) => bytes(version, 1, KIND.certificate);
    expect(() => readEntries(nodeSuite, [certificate(2)])).toThrow(
      'the store has layouts of version 2, and this program reads 6; enrol a new device in an empty store',
    );
    for (const version of [0, 6, 170])
      expect(() => readEntries(nodeSuite, [certificate(version)])).toThrow('the store is damaged (certificate');
  });

  it('refuses a journal that is damaged in the middle, or a file that is no journal, and gives advice', async () => {
    const folder = join(temporaryFolder(), 'device');
    const journal = join(folder, 'journal');
    const first = await openFolderStore(folder);
    await first.append([bytes(1)]);
    await first.append([bytes(2)]);
    await first.close();
    const damaged = readFileSync(journal);
    damaged[17] = (damaged[17] as number) ^ 1;
    writeFileSync(journal, damaged);
    await expect(openFolderStore(folder)).rejects.toThrow('is damaged at byte 8; enrol a new device');
    writeFileSync(journal, 'something else');
    await expect(openFolderStore(folder)).rejects.toThrow('was not written by this version');
  });

  it.skipIf(process.platform === 'win32')('can be read only by its owner', async () => {
    const folder = join(temporaryFolder(), 'device');
    const store = await openFolderStore(folder);
    await store.append([bytes(1)]);
    await store.replace([bytes(1)]);
    await store.append([bytes(1)], bytes(1));
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(folder))
      expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600]);
    await store.close();
  });

  it('holds no body once a contribution is over', async () => {
    const services = await startServices();
    const identity = join(temporaryFolder(), 'device');
    const client = await startClient(services, { identity });
    accepted(await client.contribute(deltaOf(1), { trainedOn: 0 }));
    await client.close();
    expect(readdirSync(identity).sort()).toEqual(['identity.key', 'journal']);
    const store = await openFolderStore(identity);
    const kinds = (await store.entries()).map((entry) => entry[2]);
    expect(new Set(kinds)).toEqual(new Set([KIND.certificate, KIND.policy, KIND.ledgerGiven]));
    await store.close();
  });
});
