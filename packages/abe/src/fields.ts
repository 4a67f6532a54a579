/** Fields that the encodings share: the header, and group elements that are checked as they are read. */
import { type ByteReader, type ByteWriter, DecodeError } from '@basa/masking';
import type { G1, G2, Group, GT, Scalar } from './group.ts';

const VERSION = 1;

/** The second byte of every encoding. */
export const KIND = {
  publicKey: 1,
  masterKey: 2,
  attributeKey: 3,
  ciphertext: 4,
} as const;

export function writeHeader(writer: ByteWriter, kind: number): ByteWriter {
  return writer.u8(VERSION).u8(kind);
}

export function readHeader(reader: ByteReader, kind: number): void {
  const version = reader.u8('version');
  if (version !== VERSION) throw new DecodeError('version', `${version} is not known, only ${VERSION}`);
  const found = reader.u8('kind');
  if (found !== kind) throw new DecodeError('kind', `${found} instead of ${kind}`);
}

export function checkedG1(group: Group, field: string, bytes: Uint8Array): G1 {
  return group.g1.decode(bytes) ?? failPoint(field, 'G1');
}

export function checkedG2(group: Group, field: string, bytes: Uint8Array): G2 {
  return group.g2.decode(bytes) ?? failPoint(field, 'G2');
}

export function checkedGT(group: Group, field: string, bytes: Uint8Array): GT {
  const element = group.gt.decode(bytes);
  if (element === undefined) throw new DecodeError(field, 'not a canonical element of order r in GT');
  return element;
}

export function checkedScalar(group: Group, field: string, bytes: Uint8Array): Scalar {
  const scalar = group.scalars.decode(bytes);
  if (scalar === undefined) throw new DecodeError(field, 'not a number from 1 to r - 1');
  return scalar;
}

function failPoint(field: string, name: string): never {
  throw new DecodeError(field, `not a canonical point of the subgroup ${name}, or infinity`);
}
