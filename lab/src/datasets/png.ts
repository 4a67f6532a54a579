/** PNG images of 8 bits a channel, not interlaced (W3C PNG, third edition), the form in which datasets come. */
import { crc32, inflateSync } from 'node:zlib';
import { DataError } from '@basa/learning/files';

interface Size {
  readonly height: number;
  readonly width: number;
  readonly channels: number;
}

export interface Image extends Size {
  readonly pixels: Uint8Array;
}

const SIGNATURE = [137, 80, 78, 71, 13, 10, 26, 10];
/** Channels by colour type; palettes are left out. */
const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 4: 2, 6: 4 };

export function readPng(bytes: Uint8Array, file: string): Image {
  if (!SIGNATURE.every((byte, n) => bytes[n] === byte)) throw new DataError(file, 0, 'is not a PNG');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const data: Uint8Array[] = [];
  let header: Size | undefined;
  for (let at = 8; ; ) {
    if (at + 12 > bytes.length) throw new DataError(file, at, 'ends before its last chunk');
    const length = view.getUint32(at);
    const kind = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    if (at + 12 + length > bytes.length) throw new DataError(file, at, `the chunk ${kind} is truncated`);
    if (crc32(bytes.subarray(at + 4, at + 8 + length)) !== view.getUint32(at + 8 + length)) {
      throw new DataError(file, at, `the chunk ${kind} is damaged`);
    }
    if (kind === 'IHDR') header = readHeader(view, at + 8, file);
    if (kind === 'IDAT') data.push(bytes.subarray(at + 8, at + 8 + length));
    if (kind === 'IEND') break;
    at += 12 + length;
  }
  if (header === undefined) throw new DataError(file, 8, 'has no header');
  return { ...header, pixels: unfilter(inflate(data, header, file), header, file) };
}

function readHeader(view: DataView, at: number, file: string): Size {
  const [depth, colour, interlaced] = [view.getUint8(at + 8), view.getUint8(at + 9), view.getUint8(at + 12)];
  const channels = CHANNELS[colour];
  if (depth !== 8 || channels === undefined || interlaced !== 0) {
    throw new DataError(
      file,
      at + 8,
      `depth ${depth}, colour type ${colour}, interlacing ${interlaced}: save it as 8-bit grey or colour, not interlaced`,
    );
  }
  return { width: view.getUint32(at), height: view.getUint32(at + 4), channels };
}

/** A filter byte and its pixels, line by line; stops once there are more than the header promises. */
function inflate(parts: readonly Uint8Array[], { height, width, channels }: Size, file: string): Uint8Array {
  const promised = height * (width * channels + 1);
  try {
    return inflateSync(Buffer.concat(parts), { maxOutputLength: Math.max(1, promised) });
  } catch (error) {
    throw new DataError(file, 'its image data', error instanceof Error ? error.message : String(error));
  }
}

/** Undoes the filter of each line: none, sub, up, average or Paeth. */
function unfilter(lines: Uint8Array, { height, width, channels }: Size, file: string): Uint8Array {
  const row = width * channels;
  if (lines.length !== height * (row + 1)) throw new DataError(file, 'its image data', `has ${lines.length} bytes`);
  const pixels = new Uint8Array(height * row);
  for (let y = 0; y < height; y++) {
    const filter = lines[y * (row + 1)] as number;
    if (filter > 4) throw new DataError(file, `line ${y}`, `has the unknown filter ${filter}`);
    const from = y * (row + 1) + 1;
    const to = y * row;
    for (let x = 0; x < row; x++) {
      const left = x >= channels ? (pixels[to + x - channels] as number) : 0;
      const up = y > 0 ? (pixels[to + x - row] as number) : 0;
      const corner = x >= channels && y > 0 ? (pixels[to + x - row - channels] as number) : 0;
      pixels[to + x] = (lines[from + x] as number) + predict(filter, left, up, corner);
    }
  }
  return pixels;
}

function predict(filter: number, left: number, up: number, corner: number): number {
  if (filter === 0) return 0;
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  const guess = left + up - corner;
  const [byLeft, byUp, byCorner] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  if (byLeft <= byUp && byLeft <= byCorner) return left;
  return byUp <= byCorner ? up : corner;
}
