/** X25519 keys that nothing may be sealed to: points of small order, second encodings of a point, and bytes that are no point at all. */
import { ascii, toHex } from '@basa/masking';
import { nodeSuite as suite } from '@basa/runtime/node';

export interface RefusedKey {
  readonly why: string;
  readonly key: string;
}

const PRIME = 2n ** 255n - 19n;
const ORDER_8 = 325606250916557431795983626356110631294008115727848805560023387167927233504n;
const OTHER_ORDER_8 = 39382357235489614581723060781553021112529911719440698176882885853963445705823n;

export function refusedKeys(): readonly RefusedKey[] {
  const good = suite.x25519(suite.sha256(ascii('a good epoch key'))).publicKey;
  const points: readonly (readonly [why: string, u: bigint])[] = [
    ['of order 2', 0n],
    ['of order 4', 1n],
    ['of order 8', ORDER_8],
    ['of order 8, the other one', OTHER_ORDER_8],
    ['of order 4 on the twist', PRIME - 1n],
    ['0 written as p', PRIME],
    ['1 written as p + 1', PRIME + 1n],
    ['9 written as p + 9', PRIME + 9n],
  ];
  return [
    ...points.map(([why, u]) => ({ why, key: toHex(point(u)) })),
    { why: 'with the highest bit set', key: toHex(good.map((byte, n) => (n === 31 ? byte | 0x80 : byte))) },
    { why: 'a byte short', key: toHex(good.subarray(1)) },
  ];
}

function point(u: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, n) => Number((u >> BigInt(8 * n)) & 0xffn));
}
