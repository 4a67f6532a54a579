/** Data of the experiments that are not in the product: LEAF's files, PNG images, written fonts. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import { loadFontWriters } from '@basa/lab/datasets/font-writers.ts';
import { loadLeafFemnist } from '@basa/lab/datasets/leaf.ts';
import { readPng } from '@basa/lab/datasets/png.ts';
import { afterAll, describe, expect, it } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'basa-data-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('LEAF JSON', () => {
  const image = (value: unknown): unknown[] => new Array(784).fill(value);
  const leaf = async (userData: object, users = Object.keys(userData)) => {
    const path = join(folder, 'leaf.json');
    writeFileSync(path, JSON.stringify({ users, num_samples: [], user_data: userData }));
    return loadLeafFemnist([path]);
  };

  it('that is right becomes one user per writer, with ink = 1', async () => {
    const { dataset, users, userNames } = await leaf({
      f1: { x: [image(1), image(0.25)], y: [3, 61] },
      f2: { x: [image(0)], y: [0] },
    });
    expect(userNames).toEqual(['f1', 'f2']);
    expect(users.map((indices) => [...indices])).toEqual([[0, 1], [2]]);
    expect([dataset.inputs[0], dataset.inputs[784], dataset.inputs[2 * 784]]).toEqual([0, 0.75, 1]);
    expect([...dataset.labels]).toEqual([3, 61, 0]);
  });

  it.each([
    ['user_data.f1.x[0][0]: null is not a finite number', { f1: { x: [image(null)], y: [0] } }],
    ['user_data.f1.y[0]: label 62 is not a class from 0 to 61', { f1: { x: [image(1)], y: [62] } }],
    ['user_data.f1.x[0]: is not 784 numbers', { f1: { x: [[1]], y: [0] } }],
    ['user_data.f1: a client without examples', { f1: { x: [], y: [] } }],
    ['user_data.f1: 1 images and 2 labels', { f1: { x: [image(1)], y: [0, 1] } }],
    ['user_data.f1: has no lists', { f1: { x: 1 } }],
  ])('that is wrong is refused: %s', async (problem, userData) => {
    await expect(leaf(userData)).rejects.toThrow(`leaf.json: at ${problem}`);
  });

  it('that is no JSON, or none of LEAF, is refused', async () => {
    const path = join(folder, 'broken.json');
    writeFileSync(path, '{"users": ["a"], "user_da');
    await expect(loadLeafFemnist([path])).rejects.toThrow(/broken\.json: at byte \d+: is not JSON, or is truncated/);
    writeFileSync(path, '[1]');
    await expect(loadLeafFemnist([path])).rejects.toThrow('is it from LEAF');
    writeFileSync(path, '1');
    await expect(loadLeafFemnist([path])).rejects.toThrow('not a JSON object');
  });
});

describe('PNG images', () => {
  const changed = (bytes: Uint8Array, at: number, to: number): Uint8Array =>
    bytes.map((byte, n) => (n === at ? to : byte));

  it('have the same pixels, whatever filter their lines have', () => {
    const pixels = [10, 20, 30, 40, 50, 60];
    for (const filter of [0, 1, 2, 3, 4]) {
      const image = readPng(png(3, 2, pixels, filter), 'x');
      expect(image).toMatchObject({ height: 2, width: 3, channels: 1 });
      expect([...image.pixels]).toEqual(pixels);
    }
  });

  it.each([
    ['at byte 0: is not a PNG', (good: Uint8Array) => good.map((byte, n) => (n === 1 ? 0 : byte))],
    ['at byte 33: the chunk IDAT is truncated', (good: Uint8Array) => good.subarray(0, 50)],
    ['ends before its last chunk', (good: Uint8Array) => good.subarray(0, 35)],
    ['depth 16', (good: Uint8Array) => sealed(changed(good, 24, 16), 8)],
    ['at byte 8: the chunk IHDR is damaged', (good: Uint8Array) => changed(good, 24, 16)],
    ['at byte 33: the chunk IDAT is damaged', (good: Uint8Array) => changed(good, 45, 77)],
    ['at its image data', (good: Uint8Array) => sealed(changed(good, 45, 77), 33)],
    ['at its image data', (good: Uint8Array) => sealed(changed(good, 23, 1), 8)], // more lines than promised
    ['unknown filter 9', () => png(3, 2, [1, 2, 3, 4, 5, 6], 9)],
  ])('that are wrong are refused: %s', (problem, damage) => {
    expect(() => readPng(damage(png(3, 2, [1, 2, 3, 4, 5, 6], 0)), 'x')).toThrow(problem);
  });

  /** With the checksum of the chunk at `at` put right. */
  function sealed(bytes: Uint8Array, at: number): Uint8Array {
    const copy = Buffer.from(bytes);
    const end = at + 8 + copy.readUInt32BE(at);
    copy.writeUInt32BE(crc32(copy.subarray(at + 4, end)), end);
    return Uint8Array.from(copy);
  }

  /** A greyscale PNG whose lines all have the same filter. */
  function png(width: number, height: number, pixels: readonly number[], filter: number): Uint8Array {
    const at = (x: number, y: number): number => (x < 0 || y < 0 ? 0 : (pixels[y * width + x] ?? 0));
    const lines: number[] = [];
    for (let y = 0; y < height; y++) {
      lines.push(filter);
      for (let x = 0; x < width; x++) {
        const [left, up, corner] = [at(x - 1, y), at(x, y - 1), at(x - 1, y - 1)];
        const paeth = [left, up, corner].reduce((best, c) =>
          Math.abs(left + up - corner - c) < Math.abs(left + up - corner - best) ? c : best,
        );
        const guess = [0, left, up, (left + up) >> 1, paeth][filter] ?? 0;
        lines.push((at(x, y) - guess) & 255);
      }
    }
    const header = Buffer.alloc(13);
    header.writeUInt32BE(width);
    header.writeUInt32BE(height, 4);
    header.set([8, 0, 0, 0, 0], 8);
    const chunk = (kind: string, data: Uint8Array): Uint8Array => {
      const start = Buffer.alloc(8);
      start.writeUInt32BE(data.length);
      start.write(kind, 4, 'latin1');
      return sealed(Buffer.concat([start, data, Buffer.alloc(4)]), 0);
    };
    const signature = Uint8Array.of(137, 80, 78, 71, 13, 10, 26, 10);
    const data = deflateSync(Uint8Array.from(lines), { level: 0 });
    return Uint8Array.from(
      Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', new Uint8Array())]),
    );
  }
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
