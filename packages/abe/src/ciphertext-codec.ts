/**
 * The bytes of a ciphertext, with its policy inside.
 *
 *     ciphertext    encapsulation length(u32) sealed
 *     encapsulation version kind policy C(48) { C_y(96) C'_y(48) } for each leaf
 *     policy        0 attribute(u16 length, bytes)  or  1 k(u16) n(u16) child 1 .. child n
 */
import { ByteReader, ByteWriter, DecodeError } from '@basa/masking';
import type { Ciphertext, Encapsulation } from './ciphertext.ts';
import { checkedG1, checkedG2, KIND, readHeader, writeHeader } from './fields.ts';
import { G1_BYTES, G2_BYTES, type Group } from './group.ts';
import { TAG_BYTES } from './kem.ts';
import { readAttribute } from './key-codec.ts';
import { leavesOf, MAX_LEAVES, MAX_LEVELS, type Policy } from './policy.ts';

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
