/** Bytes that must be rejected: each a valid encoding with one field made wrong in one way. */

import type { Group } from '@basa/abe';
import { toHex } from '@basa/masking';

export interface AbeNegative {
  /** The decoder that rejects it; a `sealed` one does not open with `key` and `context`. */
  readonly what: 'publicKey' | 'masterKey' | 'attributeKey' | 'ciphertext' | 'sealed';
  readonly why: string;
  /** The field that the `DecodeError` names; absent for `sealed`. */
  readonly field?: string;
  readonly bytes: string;
  readonly key?: string;
  readonly context?: string;
}

interface Valid {
  readonly publicKey: string;
  readonly masterKey: string;
  /** For doctor and cardiology. */
  readonly key: string;
  /** Under a policy of one attribute, doctor. */
  readonly ciphertext: string;
  readonly seed: { readonly sealed: string; readonly key: string; readonly context: string };
}

const P = 0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaabn;
const R = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n;

/** Offsets in bytes, from the tables at the top of key-codec.ts and ciphertext-codec.ts. */
const POLICY_END = 2 + 1 + 2 + 'doctor'.length;

export function abeNegatives(valid: Valid, group: Group): readonly AbeNegative[] {
  const { publicKey, masterKey, key, ciphertext, seed } = valid;
  const points = badPoints(group);
  const component = 4 + 2 + 'cardiology'.length;
  const places: readonly (readonly [what: AbeNegative['what'], field: string, bytes: string, offset: number, 1 | 2])[] =
    [
      ['publicKey', 'h', publicKey, 2, 1],
      ['publicKey', 'f', publicKey, 50, 2],
      ['attributeKey', 'D of attribute 0', key, component, 1],
      ['attributeKey', "D' of attribute 0", key, component + 48, 2],
      ['attributeKey', 'D', key, key.length / 2 - 96, 2],
      ['ciphertext', 'C', ciphertext, POLICY_END, 1],
      ['ciphertext', 'C of leaf 0', ciphertext, POLICY_END + 48, 2],
      ['ciphertext', "C' of leaf 0", ciphertext, POLICY_END + 144, 1],
      ['sealed', '', seed.sealed, 0, 1],
      ['sealed', '', seed.sealed, 48, 2],
      ['sealed', '', seed.sealed, 144, 1],
    ];
  const atPoints = places.flatMap(([what, field, bytes, offset, curve]) =>
    Object.entries(points[curve]).map(([why, point]) => negative(what, why, field, splice(bytes, offset, point))),
  );
  const gtOffset = 146;
  const g2Generator = toHex(group.g2.encode(group.g2.generator));
  return [
    ...atPoints,
    negative('publicKey', 'f of another key', 'f', splice(publicKey, 50, g2Generator)),
    negative('publicKey', 'one', 'A', splice(publicKey, gtOffset, fixed(1n, 48) + '00'.repeat(528))),
    negative(
      'publicKey',
      'minus one, which is of order 2',
      'A',
      splice(publicKey, gtOffset, fixed(P - 1n, 48) + '00'.repeat(528)),
    ),
    negative('publicKey', 'zero', 'A', splice(publicKey, gtOffset, '00'.repeat(576))),
    negative('publicKey', 'a coefficient of p', 'A', splice(publicKey, gtOffset, fixed(P, 48))),
    negative('publicKey', 'a changed coefficient', 'A', splice(publicKey, gtOffset + 48, fixed(5n, 48))),
    negative('masterKey', 'zero', 'alpha', splice(masterKey, 2, fixed(0n, 32))),
    negative('masterKey', 'the group order', 'beta', splice(masterKey, 34, fixed(R, 32))),
    negative('ciphertext', '2 of 1', 'policy threshold', splice(ciphertext, 2, '0102000100')),
    ...(['publicKey', 'masterKey', 'ciphertext'] as const).flatMap((what) => framing(what, valid[what])),
    ...framing('attributeKey', key),
    negative('sealed', 'truncated', '', seed.sealed.slice(0, -2)),
    negative('sealed', 'too long', '', `${seed.sealed}00`),
    negative('sealed', 'a flipped bit in the tag', '', flipLast(seed.sealed)),
    negative(
      'sealed',
      "C and C' exchanged",
      '',
      seed.sealed.slice(288, 384) + seed.sealed.slice(96, 288) + seed.sealed.slice(0, 96) + seed.sealed.slice(384),
    ),
  ];

  function negative(what: AbeNegative['what'], why: string, field: string, bytes: string): AbeNegative {
    if (what === 'sealed') return { what, why, bytes, key: seed.key, context: seed.context };
    return { what, why, field, bytes };
  }

  function framing(what: AbeNegative['what'], bytes: string): readonly AbeNegative[] {
    const lastField = { publicKey: 'A', masterKey: 'beta', attributeKey: 'D', ciphertext: 'sealed', sealed: '' }[what];
    const name = what.replace('Key', ' key').toLowerCase();
    return [
      negative(what, 'another version', 'version', splice(bytes, 0, '02')),
      negative(what, 'another kind', 'kind', splice(bytes, 1, '09')),
      negative(what, 'truncated', lastField, bytes.slice(0, -2)),
      negative(what, 'too long', name, `${bytes}00`),
      negative(what, 'empty', 'version', ''),
    ];
  }
}

function badPoints(group: Group): Readonly<Record<1 | 2, Readonly<Record<string, string>>>> {
  return {
    1: {
      'not on the curve': compressed(1n, 48),
      'outside of the subgroup': compressed(4n, 48),
      infinity: `c0${'00'.repeat(47)}`,
      'infinity with a sign': `e0${'00'.repeat(47)}`,
      'without the flag of compression': withoutFlag(toHex(group.g1.encode(group.g1.generator))),
      'x of p and more': nonCanonical(group),
    },
    2: {
      'not on the curve': compressed(1n, 96),
      'outside of the subgroup': compressed(2n, 96),
      infinity: `c0${'00'.repeat(95)}`,
      'without the flag of compression': withoutFlag(toHex(group.g2.encode(group.g2.generator))),
    },
  };
}

/** A point of the subgroup whose x + p still fits into 381 bits. */
function nonCanonical({ g1 }: Group): string {
  let point = g1.generator;
  for (;;) {
    const encoded = BigInt(`0x${toHex(g1.encode(point))}`);
    const flags = (encoded >> 381n) << 381n;
    const x = encoded - flags + P;
    if (x >> 381n === 0n) return fixed(flags | x, 48);
    point = g1.add(point, g1.generator);
  }
}

function compressed(x: bigint, length: number): string {
  return fixed((1n << BigInt(8 * length - 1)) | x, length);
}

function withoutFlag(point: string): string {
  return fixed(BigInt(`0x${point}`) & ~(1n << BigInt(4 * point.length - 1)), point.length / 2);
}

function splice(hex: string, offset: number, part: string): string {
  return hex.slice(0, 2 * offset) + part + hex.slice(2 * offset + part.length);
}

function flipLast(hex: string): string {
  return fixed(BigInt(`0x${hex}`) ^ 1n, hex.length / 2);
}

function fixed(value: bigint, length: number): string {
  return value.toString(16).padStart(2 * length, '0');
}
