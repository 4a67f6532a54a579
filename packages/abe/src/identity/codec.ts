/**
 * The bytes of identity keys.
 *
 *     public key  version kind P(48)
 *     master key  version kind z(32)
 *     key         version kind attribute(u16 length, bytes) d(96)
 */
import { ByteReader, ByteWriter } from '@basa/masking';
import { checkedG1, checkedG2, checkedScalar, KIND, readHeader, writeHeader } from '../fields.ts';
import type { Group } from '../group.ts';
import { G1_BYTES, G2_BYTES, SCALAR_BYTES } from '../group.ts';
import { readAttribute } from '../key-codec.ts';
import type { IdentityKey, IdentityMasterKey, IdentityPublicKey } from './keys.ts';

export function encodeIdentityPublicKey({ p }: IdentityPublicKey, { g1 }: Group): Uint8Array {
  return writeHeader(new ByteWriter(), KIND.identityPublicKey).bytes(g1.encode(p)).finish();
}

export function decodeIdentityPublicKey(bytes: Uint8Array, group: Group): IdentityPublicKey {
  const reader = new ByteReader(bytes);
  readHeader(reader, KIND.identityPublicKey);
  const p = reader.bytes('P', G1_BYTES);
  reader.end('identity public key');
  return { p: checkedG1(group, 'P', p) };
}

export function encodeIdentityMasterKey({ z }: IdentityMasterKey, { scalars }: Group): Uint8Array {
  return writeHeader(new ByteWriter(), KIND.identityMasterKey).bytes(scalars.encode(z)).finish();
}

export function decodeIdentityMasterKey(bytes: Uint8Array, group: Group): IdentityMasterKey {
  const reader = new ByteReader(bytes);
  readHeader(reader, KIND.identityMasterKey);
  const z = reader.bytes('z', SCALAR_BYTES);
  reader.end('identity master key');
  return { z: checkedScalar(group, 'z', z) };
}

export function encodeIdentityKey({ attribute, d }: IdentityKey, { g2 }: Group): Uint8Array {
  return writeHeader(new ByteWriter(), KIND.identityKey).shortBytes(attribute).bytes(g2.encode(d)).finish();
}

export function decodeIdentityKey(bytes: Uint8Array, group: Group): IdentityKey {
  const reader = new ByteReader(bytes);
  readHeader(reader, KIND.identityKey);
  const attribute = readAttribute(reader, 'attribute').slice();
  const d = reader.bytes('d', G2_BYTES);
  reader.end('identity key');
  return { attribute, d: checkedG2(group, 'd', d) };
}
