/**
 * The bytes of the keys. One encoding per key: decoding rejects bytes that encoding would not write.
 *
 *     public key     version kind h(48) f(96) A(576)
 *     master key     version kind alpha(32) beta(32)
 *     attribute key  version kind count(u16) { attribute(u16 length, bytes) D_j(48) D'_j(96) } D(96)
 */
import { ByteReader, ByteWriter, DecodeError } from '@basa/masking';
import { checkedG1, checkedG2, checkedGT, checkedScalar, KIND, readHeader, writeHeader } from './fields.ts';
import { G1_BYTES, G2_BYTES, type Group, GT_BYTES, SCALAR_BYTES } from './group.ts';
import { invertSecret } from './invert-secret.ts';
import { MAX_KEY_ATTRIBUTES } from './key-gen.ts';
import { type AttributeKey, compareAttributes, type MasterKey, type PublicKey } from './keys.ts';
import { MAX_ATTRIBUTE_BYTES } from './policy.ts';

export function encodePublicKey({ h, f, a }: PublicKey, { g1, g2, gt }: Group): Uint8Array {
  const writer = writeHeader(new ByteWriter(), KIND.publicKey);
  return writer.bytes(g1.encode(h)).bytes(g2.encode(f)).bytes(gt.encode(a)).finish();
}

export function decodePublicKey(bytes: Uint8Array, group: Group): PublicKey {
  const reader = new ByteReader(bytes);
  readHeader(reader, KIND.publicKey);
  const [hBytes, fBytes] = [reader.bytes('h', G1_BYTES), reader.bytes('f', G2_BYTES)];
  const aBytes = reader.bytes('A', GT_BYTES);
  reader.end('public key');
  const h = checkedG1(group, 'h', hBytes);
  const f = checkedG2(group, 'f', fBytes);
  const a = checkedGT(group, 'A', aBytes);
  const { g1, g2, gt } = group;
  const generators = group.pairingProduct([{ g1: g1.generator, g2: g2.generator }]);
  if (!gt.equal(group.pairingProduct([{ g1: h, g2: f }]), generators)) {
    throw new DecodeError('f', 'does not belong to h: e(h, f) is not e(g1, g2)');
  }
  return { h, f, a };
}

export function encodeMasterKey({ alpha, beta }: MasterKey, { scalars }: Group): Uint8Array {
  const writer = writeHeader(new ByteWriter(), KIND.masterKey);
  return writer.bytes(scalars.encode(alpha)).bytes(scalars.encode(beta)).finish();
}

export function decodeMasterKey(bytes: Uint8Array, group: Group): MasterKey {
  const reader = new ByteReader(bytes);
  readHeader(reader, KIND.masterKey);
  const [alphaBytes, betaBytes] = [reader.bytes('alpha', SCALAR_BYTES), reader.bytes('beta', SCALAR_BYTES)];
  reader.end('master key');
  const alpha = checkedScalar(group, 'alpha', alphaBytes);
  const beta = checkedScalar(group, 'beta', betaBytes);
  return { alpha, beta, betaInverse: invertSecret(beta, group) };
}

export function encodeAttributeKey({ d, components }: AttributeKey, { g1, g2 }: Group): Uint8Array {
  const writer = writeHeader(new ByteWriter(), KIND.attributeKey).u16(components.length);
  for (const { attribute, dj, djPrime } of components) {
    writer.shortBytes(attribute).bytes(g1.encode(dj)).bytes(g2.encode(djPrime));
  }
  return writer.bytes(g2.encode(d)).finish();
}

export function decodeAttributeKey(bytes: Uint8Array, group: Group): AttributeKey {
  const reader = new ByteReader(bytes);
  readHeader(reader, KIND.attributeKey);
  const count = reader.u16('count');
  if (count < 1 || count > MAX_KEY_ATTRIBUTES) throw new DecodeError('count', `not from 1 to ${MAX_KEY_ATTRIBUTES}`);
  const raw = Array.from({ length: count }, (_, i) => ({
    attribute: readAttribute(reader, `attribute ${i}`).slice(),
    dj: reader.bytes(`D of attribute ${i}`, G1_BYTES),
    djPrime: reader.bytes(`D' of attribute ${i}`, G2_BYTES),
  }));
  const dBytes = reader.bytes('D', G2_BYTES);
  reader.end('attribute key');
  raw.forEach(({ attribute }, i) => {
    const before = raw[i - 1]?.attribute;
    if (before !== undefined && compareAttributes(before, attribute) >= 0) {
      throw new DecodeError(`attribute ${i}`, 'not in ascending order');
    }
  });
  const d = checkedG2(group, 'D', dBytes);
  const components = raw.map(({ attribute, dj, djPrime }, i) => ({
    attribute,
    dj: checkedG1(group, `D of attribute ${i}`, dj),
    djPrime: checkedG2(group, `D' of attribute ${i}`, djPrime),
  }));
  return { d, components };
}

export function readAttribute(reader: ByteReader, field: string): Uint8Array {
  const attribute = reader.shortBytes(field, MAX_ATTRIBUTE_BYTES);
  if (attribute.length === 0) throw new DecodeError(field, 'empty');
  return attribute;
}
