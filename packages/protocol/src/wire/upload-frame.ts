/** The framed header before the body of an upload. */
import { ByteReader, ByteWriter, DecodeError } from '@basa/masking';

const FRAME_ALIGNMENT = 64;

/** An upload starts with its header after a length, padded so that the vector begins at a multiple of 64 bytes. */
export function frameHeader(header: Uint8Array): Uint8Array {
  const writer = new ByteWriter().u32(header.length).bytes(header);
  const used = 4 + header.length;
  return writer.bytes(new Uint8Array((FRAME_ALIGNMENT - (used % FRAME_ALIGNMENT)) % FRAME_ALIGNMENT)).finish();
}

/** Returns the header bytes and the position of the body. `maxBytes` bounds the header. */
export function unframeHeader(
  frame: Uint8Array,
  maxBytes: number,
): { readonly header: Uint8Array; readonly bodyStart: number } {
  const reader = new ByteReader(frame);
  const length = reader.u32('upload.header length');
  if (length > maxBytes) throw new DecodeError('upload.header length', `${length} exceeds ${maxBytes}`);
  const header = reader.bytes('upload.header', length);
  const padding = reader.bytes(
    'upload.padding',
    (FRAME_ALIGNMENT - ((4 + length) % FRAME_ALIGNMENT)) % FRAME_ALIGNMENT,
  );
  if (padding.some((byte) => byte !== 0)) throw new DecodeError('upload.padding', 'not zero');
  return { header, bodyStart: 4 + length + padding.length };
}
