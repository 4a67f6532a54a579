/** Extracts plain files from a ustar archive as npm makes them: names below `package/`, without that prefix. */
import { DataError } from './data-error.ts';

const BLOCK_BYTES = 512;
const REGULAR = new Set(['0', '\0', '']);

export function readTar(archive: Uint8Array, file: string): ReadonlyMap<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  let at = 0;
  while (at + BLOCK_BYTES <= archive.length) {
    const header = archive.subarray(at, at + BLOCK_BYTES);
    if (header.every((byte) => byte === 0)) return files;
    const size = Number.parseInt(text(header, 124, 12).trim(), 8);
    const end = at + BLOCK_BYTES + size;
    if (!(size >= 0 && end <= archive.length)) throw new DataError(file, at, 'an entry is longer than the archive');
    const prefix = text(header, 345, 155);
    const path = `${prefix === '' ? '' : `${prefix}/`}${text(header, 0, 100)}`;
    if (REGULAR.has(text(header, 156, 1))) files.set(path.replace(/^[^/]*\//, ''), archive.subarray(end - size, end));
    at += BLOCK_BYTES * (1 + Math.ceil(size / BLOCK_BYTES));
  }
  throw new DataError(file, at, 'the archive has no end');
}

/** Up to the first zero byte. */
function text(header: Uint8Array, from: number, length: number): string {
  const field = header.subarray(from, from + length);
  const end = field.indexOf(0);
  return Buffer.from(end < 0 ? field : field.subarray(0, end)).toString('utf8');
}
