import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { loadCsv, loadImages, loadLeafFemnist, readCsv, readIdx } from '../src/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'basa-data-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('idx files', () => {
  const images = (bytes = idx(0x0803, [2, 2, 2], [0, 1, 2, 3, 4, 5, 6, 255])) => ({ name: 'images', bytes });
  const labels = (bytes = idx(0x0801, [2], [7, 9])) => ({ name: 'labels', bytes });

  it('that are right become a dataset', () => {
    const dataset = readIdx('digits', images(), labels(), 10);
    expect(dataset.shape).toEqual({ height: 2, width: 2, channels: 1 });
    expect([...dataset.inputs.slice(4), ...dataset.labels]).toEqual([4, 5, 6, 255, 7, 9]);
  });

  it.each([
    [
      'images: at byte 23: is truncated: 24 bytes expected',
      () => readIdx('', images(images().bytes.subarray(0, 23)), labels(), 10),
    ],
    [
      'images: at byte 9: ends within its header',
      () => readIdx('', images(images().bytes.subarray(0, 9)), labels(), 10),
    ],
    [
      'labels: at byte 10: is too long',
      () => readIdx('', images(), labels(Uint8Array.from([...labels().bytes, 1])), 10),
    ],
    [
      'images: at byte 0: its magic number is 0x00000801, not 0x00000803',
      () => readIdx('', images(images().bytes.map((byte, n) => (n === 3 ? 1 : byte))), labels(), 10),
    ],
    ['labels: at byte 9: label 9 is not a class from 0 to 8', () => readIdx('', images(), labels(), 9)],
    ['labels: at byte 4: 1 labels for 2 images', () => readIdx('', images(), labels(idx(0x0801, [1], [7])), 10)],
  ])('that are wrong are refused: %s', (problem, read) => {
    expect(read).toThrow(problem);
  });

  function idx(magic: number, sizes: readonly number[], data: readonly number[]): Uint8Array {
    const header = Buffer.alloc(4 + 4 * sizes.length);
    header.writeUInt32BE(magic);
    for (const [n, size] of sizes.entries()) header.writeUInt32BE(size, 4 + 4 * n);
    return Uint8Array.from([...header, ...data]);
  }
});

describe('CSV', () => {
  const options = { shape: { height: 1, width: 1, channels: 2 }, classes: 3 };

  it('that is right becomes a dataset, label first or last, with or without names', async () => {
    const path = join(folder, 'table.csv');
    writeFileSync(path, 'label,a,b\n0,1.5,2\n2,-3,4\n');
    const dataset = await loadCsv(path, { ...options, header: true });
    expect([[...dataset.inputs], [...dataset.labels]]).toEqual([
      [1.5, 2, -3, 4],
      [0, 2],
    ]);
    const last = readCsv('255;51;1\n', 'x', { ...options, label: 'last', separator: ';', scale: 255 });
    expect([...last.inputs, ...last.labels]).toEqual([1, Math.fround(0.2), 1]);
  });

  it('without classes has numbers for labels, and names the column of a wrong one', () => {
    const numbers = { shape: options.shape, label: 'last', header: true } as const;
    const { labels, classes } = readCsv('area,rooms,price\n50,2,1.5\n70,3,-2\n', 'x', numbers);
    expect([labels, classes]).toEqual([Float32Array.of(1.5, -2), 1]);
    expect(() => readCsv('area,rooms,price\n50,2,cheap\n', 'x', numbers)).toThrow(
      'x: at line 2 (byte 17), column 3 (price): "cheap" is not a finite number; correct it, or remove the line',
    );
  });

  it.each([
    ['table: at line 2 (byte 6), column 3: "NaN" is not a finite number', '0,1,2\n1,3,NaN\n'],
    ['table: at line 1 (byte 0), column 2: "x" is not a finite number', '0,x,2\n'],
    ['table: at line 1 (byte 0), column 3: "" is not a finite number', '0,1,\n'],
    ['table: at line 1 (byte 0), column 2: "Infinity" is not', '0,Infinity,2\n'],
    ['table: at line 2 (byte 6), column 1: label 3 is not a class from 0 to 2', '0,1,2\n3,1,2\n'],
    ['table: at line 1 (byte 0), column 1: label 0.5', '0.5,1,2\n'],
    ['table: at line 3 (byte 12): 2 columns, not 2 and a label', '0,1,2\n1,1,2\n1,1'],
    ['table: at byte 0: no example at all', '\n'],
  ])('that is wrong is refused: %s', (problem, text) => {
    expect(() => readCsv(text, 'table', options)).toThrow(problem);
  });
});

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

describe('images', () => {
  const put = (name: string, bytes: Uint8Array): string => {
    const path = join(folder, 'pictures', name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, bytes);
    return path;
  };

  const changed = (bytes: Uint8Array, at: number, to: number): Uint8Array =>
    bytes.map((byte, n) => (n === at ? to : byte));

  it('in a folder per class become a dataset, whatever filter their lines have', async () => {
    const pixels = [10, 20, 30, 40, 50, 60];
    const lines = [0, 1, 2, 3, 4].map((filter) => put(`b/${filter}.png`, png(3, 2, pixels, filter)));
    put(
      'a/0.png',
      png(
        3,
        2,
        pixels.map((p) => p + 1),
        0,
      ),
    );
    const { dataset, classNames } = await loadImages(join(folder, 'pictures'));
    expect(classNames).toEqual(['a', 'b']);
    expect([...dataset.labels]).toEqual([0, 1, 1, 1, 1, 1]);
    expect(dataset.shape).toEqual({ height: 2, width: 3, channels: 1 });
    for (let n = 1; n <= lines.length; n++) expect([...dataset.inputs.slice(6 * n, 6 * n + 6)]).toEqual(pixels);
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
    ['is 2x2x1, the first one 2x3x1', () => png(2, 2, [1, 2, 3, 4], 0)],
    ['unknown filter 9', () => png(3, 2, [1, 2, 3, 4, 5, 6], 9)],
  ])('that are wrong are refused: %s', async (problem, damage) => {
    const path = put('b/5.png', damage(png(3, 2, [1, 2, 3, 4, 5, 6], 0)));
    await expect(loadImages(join(folder, 'pictures'))).rejects.toThrow(problem);
    rmSync(path);
  });

  it('a folder without any is refused', async () => {
    mkdirSync(join(folder, 'empty/class'), { recursive: true });
    await expect(loadImages(join(folder, 'empty'))).rejects.toThrow('a class without PNG files');
    await expect(loadImages(join(folder, 'empty/class'))).rejects.toThrow('one folder per class');
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
