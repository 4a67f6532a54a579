/** The messages of LightSecAgg, byte by byte. */
import { ByteWriter, concatBytes, FIELD, packedLength, packVector, unpackVector } from '@basa/masking';
import { listOf, TAG_BYTES } from '../pairwise.ts';

const KEY_BYTES = 32;

export interface ChannelKey {
  readonly user: number;
  readonly channelKey: Uint8Array;
}

/** One share of one mask between two users; `peer` is the other end: receiver on the way up, sender down. */
export interface SealedShare {
  readonly peer: number;
  readonly sealed: Uint8Array;
}

/** A masked update among those whose masks are opened together: its user, its version and its weight. */
export interface MaskEntry {
  readonly user: number;
  readonly stamp: number;
  readonly weight: number;
}

export function encodeChannelKeys(list: readonly ChannelKey[]): Uint8Array {
  const writer = new ByteWriter();
  for (const { user, channelKey } of list) writer.u16(user).bytes(channelKey);
  return writer.finish();
}

export function decodeChannelKeys(bytes: Uint8Array): ChannelKey[] {
  return listOf(bytes, 'channel keys', (reader) => ({
    user: reader.u16('user'),
    channelKey: reader.bytes('channel key', KEY_BYTES),
  }));
}

/** A sealed share has 4 L + 16 bytes. */
function sealedShareBytes(length: number): number {
  return packedLength(length, FIELD) + TAG_BYTES;
}

export function encodeSealedShares(shares: readonly SealedShare[]): Uint8Array {
  return concatBytes(...shares.flatMap(({ peer, sealed }) => [Uint8Array.of(peer & 0xff, peer >> 8), sealed]));
}

export function decodeSealedShares(bytes: Uint8Array, length: number): SealedShare[] {
  return listOf(bytes, 'sealed shares', (reader) => ({
    peer: reader.u16('peer'),
    sealed: reader.bytes('sealed share', sealedShareBytes(length)),
  }));
}

export function encodeEntries(entries: readonly MaskEntry[]): Uint8Array {
  const writer = new ByteWriter();
  for (const { user, stamp, weight } of entries) writer.u16(user).u53(stamp).u32(weight);
  return writer.finish();
}

export function decodeEntries(bytes: Uint8Array): MaskEntry[] {
  return listOf(bytes, 'entries', (reader) => ({
    user: reader.u16('user'),
    stamp: reader.u53('stamp'),
    weight: reader.u32('weight'),
  }));
}

/** Canonical field elements, four bytes each. */
export function encodeVector(vector: Uint32Array): Uint8Array {
  return packVector(vector, FIELD);
}

export function decodeVector(bytes: Uint8Array, length: number): Uint32Array | undefined {
  const unpacked = unpackVector(bytes, length, FIELD);
  return unpacked.kind === 'vector' ? unpacked.vector : undefined;
}
