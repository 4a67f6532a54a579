/** The bytes of keys and ciphertexts. One encoding each: decoding rejects bytes that encoding would not write. */
import { ByteReader, ByteWriter, DecodeError } from '@basa/masking';
import { type Ciphertext, type Encapsulation, TAG_BYTES } from './ciphertext.ts';
import {
  type G1,
  G1_BYTES,
  type G2,
  G2_BYTES,
  type Group,
  type GT,
  GT_BYTES,
  invertSecret,
  SCALAR_BYTES,
  type Scalar,
} from './group.ts';
import { type AttributeKey, compareAttributes, MAX_KEY_ATTRIBUTES, type MasterKey, type PublicKey } from './keys.ts';
import { leavesOf, MAX_ATTRIBUTE_BYTES, MAX_LEAVES, MAX_LEVELS, type Policy } from './policy.ts';

const VERSION = 1;

/** The second byte of every encoding. */
const KIND = {
  publicKey: 1,
  masterKey: 2,
  attributeKey: 3,
  ciphertext: 4,
} as const;

function writeHeader(writer: ByteWriter, kind: number): ByteWriter {
  return writer.u8(VERSION).u8(kind);
}

function readHeader(reader: ByteReader, kind: number): void {
  const version = reader.u8('version');
  if (version !== VERSION) throw new DecodeError('version', `${version} is not known, only ${VERSION}`);
  const found = reader.u8('kind');
  if (found !== kind) throw new DecodeError('kind', `${found} instead of ${kind}`);
}

function checkedG1(group: Group, field: string, bytes: Uint8Array): G1 {
  return group.g1.decode(bytes) ?? failPoint(field, 'G1');
}

function checkedG2(group: Group, field: string, bytes: Uint8Array): G2 {
  return group.g2.decode(bytes) ?? failPoint(field, 'G2');
}

function checkedGT(group: Group, field: string, bytes: Uint8Array): GT {
  const element = group.gt.decode(bytes);
  if (element === undefined) throw new DecodeError(field, 'not a canonical element of order r in GT');
  return element;
}

function checkedScalar(group: Group, field: string, bytes: Uint8Array): Scalar {
  const scalar = group.scalars.decode(bytes);
  if (scalar === undefined) throw new DecodeError(field, 'not a number from 1 to r - 1');
  return scalar;
}

function failPoint(field: string, name: string): never {
  throw new DecodeError(field, `not a canonical point of the subgroup ${name}, or infinity`);
}

// The bytes of the keys. One encoding per key: decoding rejects bytes that encoding would not write.
//
//     public key     version kind h(48) f(96) A(576)
//     master key     version kind alpha(32) beta(32)
//     attribute key  version kind count(u16) { attribute(u16 length, bytes) D_j(48) D'_j(96) } D(96)

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

function readAttribute(reader: ByteReader, field: string): Uint8Array {
  const attribute = reader.shortBytes(field, MAX_ATTRIBUTE_BYTES);
  if (attribute.length === 0) throw new DecodeError(field, 'empty');
  return attribute;
}

// The bytes of a ciphertext, with its policy inside.
//
//     ciphertext    encapsulation length(u32) sealed
//     encapsulation version kind policy C(48) { C_y(96) C'_y(48) } for each leaf
//     policy        0 attribute(u16 length, bytes)  or  1 k(u16) n(u16) child 1 .. child n

const ATTRIBUTE = 0;
const THRESHOLD = 1;

export function encodeCiphertext({ encapsulation, sealed }: Ciphertext, group: Group): Uint8Array {
  const header = encodeEncapsulation(encapsulation, group);
  return new ByteWriter().bytes(header).u32(sealed.length).bytes(sealed).finish();
}

export function decodeCiphertext(bytes: Uint8Array, group: Group): Ciphertext {
  const reader = new ByteReader(bytes);
  const raw = readEncapsulation(reader);
  const length = reader.u32('sealed length');
  if (length < TAG_BYTES) throw new DecodeError('sealed length', `${length} is less than the tag of ${TAG_BYTES}`);
  const sealed = reader.bytes('sealed', length).slice();
  reader.end('ciphertext');
  return { encapsulation: checkPoints(raw, group), sealed };
}

export function encodeEncapsulation({ policy, c, leaves }: Encapsulation, { g1, g2 }: Group): Uint8Array {
  const writer = writeHeader(new ByteWriter(), KIND.ciphertext);
  writePolicy(writer, policy);
  writer.bytes(g1.encode(c));
  for (const { cy, cyPrime } of leaves) writer.bytes(g2.encode(cy)).bytes(g1.encode(cyPrime));
  return writer.finish();
}

export function decodeEncapsulation(bytes: Uint8Array, group: Group): Encapsulation {
  const reader = new ByteReader(bytes);
  const raw = readEncapsulation(reader);
  reader.end('encapsulation');
  return checkPoints(raw, group);
}

interface RawEncapsulation {
  readonly policy: Policy;
  readonly c: Uint8Array;
  readonly leaves: readonly { readonly cy: Uint8Array; readonly cyPrime: Uint8Array }[];
}

function readEncapsulation(reader: ByteReader): RawEncapsulation {
  readHeader(reader, KIND.ciphertext);
  const policy = readPolicy(reader, 1, { leaves: 0 });
  const c = reader.bytes('C', G1_BYTES);
  const leaves = leavesOf(policy).map((_, y) => ({
    cy: reader.bytes(`C of leaf ${y}`, G2_BYTES),
    cyPrime: reader.bytes(`C' of leaf ${y}`, G1_BYTES),
  }));
  return { policy, c, leaves };
}

/** Runs last because it is expensive: every fault of the layout has been found by now. */
function checkPoints({ policy, c, leaves }: RawEncapsulation, group: Group): Encapsulation {
  return {
    policy,
    c: checkedG1(group, 'C', c),
    leaves: leaves.map(({ cy, cyPrime }, y) => ({
      cy: checkedG2(group, `C of leaf ${y}`, cy),
      cyPrime: checkedG1(group, `C' of leaf ${y}`, cyPrime),
    })),
  };
}

function writePolicy(writer: ByteWriter, policy: Policy): void {
  if (policy.kind === 'attribute') {
    writer.u8(ATTRIBUTE).shortBytes(policy.attribute);
    return;
  }
  writer.u8(THRESHOLD).u16(policy.k).u16(policy.children.length);
  for (const child of policy.children) writePolicy(writer, child);
}

/** Levels and leaves are counted as they come, so that a few bytes can't ask for a large tree. */
function readPolicy(reader: ByteReader, level: number, count: { leaves: number }): Policy {
  if (level > MAX_LEVELS) throw new DecodeError('policy', `more than ${MAX_LEVELS} levels`);
  const tag = reader.u8('policy');
  if (tag === ATTRIBUTE) {
    count.leaves++;
    if (count.leaves > MAX_LEAVES) throw new DecodeError('policy', `more than ${MAX_LEAVES} leaves`);
    return { kind: 'attribute', attribute: readAttribute(reader, 'policy attribute').slice() };
  }
  if (tag !== THRESHOLD) throw new DecodeError('policy', `node of unknown kind ${tag}`);
  const k = reader.u16('policy threshold');
  const n = reader.u16('policy children');
  if (k < 1 || k > n) throw new DecodeError('policy threshold', `${k} of ${n} is not a valid threshold`);
  const children: Policy[] = [];
  for (let i = 0; i < n; i++) children.push(readPolicy(reader, level + 1, count));
  return { kind: 'threshold', k, children };
}
