/** The idx files of MNIST (LeCun): a magic number, big-endian sizes, then bytes. */
import type { Dataset } from '@basa/learning';
import { checkLabel, DataError } from './data-error.ts';

const IMAGES_MAGIC = 0x0803;
const LABELS_MAGIC = 0x0801;

export interface IdxFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Images of one channel with a label each. */
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
