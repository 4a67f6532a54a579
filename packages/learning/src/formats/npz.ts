/** Tensors as a NumPy .npz: a zip of .npy files, stored without compression. */

import { checkFits } from '../model/fits.ts';
import type { Model } from '../model/model.ts';
import { f32, joinBytes, u16, u32 } from './bytes.ts';
import { crc32 } from './crc.ts';
import { utf8 } from './text.ts';

/** Encodes a file for `numpy.load`: one array per tensor of the manifest. */
export function encodeNpz(model: Model, parameters: Float32Array): Uint8Array {
  checkFits(model, parameters);
  return zipStored(
    model.manifest.map(({ name, shape, offset, length }) => ({
      name: `${name}.npy`,
      bytes: encodeNpy(shape, parameters.subarray(offset, offset + length)),
    })),
  );
}

/** Format 1.0 of numpy.lib.format: magic, header length, a Python literal padded to 64 bytes, data. */
function encodeNpy(shape: readonly number[], values: Float32Array): Uint8Array {
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(', ')})`;
  const literal = `{'descr': '<f4', 'fortran_order': False, 'shape': ${tuple}, }`;
  const header = `${literal.padEnd(Math.ceil((10 + literal.length + 1) / 64) * 64 - 11)}\n`;
  const magic = Uint8Array.of(0x93, ...utf8('NUMPY'), 1, 0);
  return joinBytes([magic, u16(header.length), utf8(header), f32(values)]);
}

interface ZipEntry {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/**
 * PKWARE's APPNOTE 4.3: local headers with data, the central directory, its end. No dates, so the same model gives the
 * same bytes.
 */
function zipStored(entries: readonly ZipEntry[]): Uint8Array {
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const { name, bytes } of entries) {
    const label = utf8(name);
    // version 2.0, no flags, stored, 1 January 1980, crc, sizes, length of the name, no extra field
    const common = [
      u16(20),
      u16(0),
      u16(0),
      u16(0),
      u16(0x21),
      u32(crc32(bytes)),
      u32(bytes.length),
      u32(bytes.length),
    ];
    const lengths = [u16(label.length), u16(0)];
    const local = joinBytes([u32(0x0403_4b50), ...common, ...lengths, label]);
    directory.push(
      joinBytes([u32(0x0201_4b50), u16(20), ...common, ...lengths, u16(0), u16(0), u16(0), u32(0), u32(offset), label]),
    );
    parts.push(local, bytes);
    offset += local.length + bytes.length;
  }
  const central = joinBytes(directory);
  const count = u16(entries.length);
  const end = joinBytes([u32(0x0605_4b50), u16(0), u16(0), count, count, u32(central.length), u32(offset), u16(0)]);
  return joinBytes([...parts, central, end]);
}
