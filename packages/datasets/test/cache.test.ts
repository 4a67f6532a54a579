import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { digest, loadCached, openCache } from '../src/cache.ts';
import { loadFontWriters, loadMnist, noProgress } from '../src/index.ts';
import { fetchPackages } from '../src/registry.ts';
import { readTar } from '../src/tar.ts';

const folder = mkdtempSync(join(tmpdir(), 'basa-cache-'));
afterAll(() => rmSync(folder, { recursive: true }));

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

describe('the font writers', () => {
  it('are called synthetic, write 62 classes in 28 x 28, and the same again for the same seed', async () => {
    const writers = await loadFontWriters(1);
    const user = writers.user(7, 24);
    expect(user.name).toContain('synthetic');
    expect([user.classes, user.shape]).toEqual([62, { height: 28, width: 28, channels: 1 }]);
    expect(writers.user(7, 24)).toEqual(user);
    expect((await loadFontWriters(1)).user(7, 24)).toEqual(user);
    expect((await loadFontWriters(2)).user(7, 24)).not.toEqual(user);
    expect(writers.user(7 + 48, 24)).not.toEqual(user); // the same font in another hand
  });

  it('have about 200 examples each, with ink in the middle and none at the border', async () => {
    const writers = await loadFontWriters(1);
    const users = Array.from({ length: 12 }, (_, n) => writers.user(5 * n));
    const mean = users.reduce((sum, { labels }) => sum + labels.length, 0) / users.length;
    expect(Math.abs(mean - 200)).toBeLessThan(70);
    for (const { inputs, labels } of users) {
      let [ink, border] = [0, 0];
      for (let n = 0; n < inputs.length; n++) {
        const [x, y] = [n % 28, Math.floor(n / 28) % 28];
        if (Math.min(x, y) < 1 || Math.max(x, y) > 26) border += inputs[n] as number;
        else ink += inputs[n] as number;
      }
      expect(border).toBe(0);
      expect(ink / labels.length / 255).toBeGreaterThan(20);
    }
  });

  it('are tested on other examples of the same hands', async () => {
    const writers = await loadFontWriters(1);
    const test = writers.test(3, 5);
    expect(test.labels.length).toBe(15);
    expect(test.name).toContain('test');
  });
});
