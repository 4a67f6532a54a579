/** Slot keys, lists of them and sealed seeds that must be rejected, each wrong in one way. */
import { ascii, concatBytes, fromHex, SLOT_KEY_BYTES, slotKeyOf, toHex } from '@basa/masking';
import { nodeSuite as suite } from '@basa/runtime/node';
import { boundAlone, padFor } from '../core/slot-seals.ts';

/** A seed that its key, or its pad, opens. */
export interface SealedToSlot {
  readonly use: 'edge' | 'backup' | 'self';
  readonly slot: number;
  readonly ctx: string;
  readonly joinTag: string;
  /** For a self seed: the inputs of its registration, and the registration. */
  readonly root?: string;
  readonly view?: string;
  readonly registration?: string;
  readonly context: string;
  /** The secret of the key it is sealed to. */
  readonly secret: string;
  readonly key: string;
  readonly seed: string;
  readonly pad: string;
  readonly sealed: string;
}

export interface RefusedKey {
  readonly why: string;
  readonly key: string;
}

/** Of three slots. */
export interface RefusedList {
  readonly why: string;
  readonly hash: string;
  readonly list: string;
}

/** Opens neither with the secret nor with the pad; one of them is given. */
export interface RefusedSeal {
  readonly why: string;
  readonly ctx: string;
  readonly context: string;
  readonly key: string;
  readonly secret?: string;
  readonly pad?: string;
  readonly sealed: string;
}

const PRIME = 2n ** 255n - 19n;
const ORDER_8 = 325606250916557431795983626356110631294008115727848805560023387167927233504n;
const OTHER_ORDER_8 = 39382357235489614581723060781553021112529911719440698176882885853963445705823n;

/** Points of small order, second encodings of a point, and bytes that are no point at all. */
export function refusedKeys(list: Uint8Array): readonly RefusedKey[] {
  const good = slotKeyOf(list, 0);
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
    { why: 'with the highest bit set', key: toHex(withHighestBit(good)) },
    { why: 'a byte short', key: toHex(good.subarray(1)) },
  ];
}

export function refusedLists(list: Uint8Array): readonly RefusedList[] {
  const refused = (why: string, changed: Uint8Array, hash = suite.sha256(changed)): RefusedList => ({
    why,
    hash: toHex(hash),
    list: toHex(changed),
  });
  const withKey = (place: number, key: Uint8Array): Uint8Array => {
    const changed = list.slice();
    changed.set(key, SLOT_KEY_BYTES * place);
    return changed;
  };
  return [
    refused('a key of the server under the hash of the authority', withKey(1, point(9n)), suite.sha256(list)),
    refused('a key too few', list.subarray(0, -SLOT_KEY_BYTES)),
    refused('a key too many', concatBytes(list, point(9n))),
    refused('a byte too many', concatBytes(list, Uint8Array.of(0))),
    refused('empty', new Uint8Array()),
    refused('the key of slot 0 for slot 2', withKey(3, slotKeyOf(list, 0))),
    refused('the self key for slot 1', withKey(2, slotKeyOf(list, 'self'))),
    ...refusedKeys(list)
      .filter(({ key }) => key.length === 2 * SLOT_KEY_BYTES)
      .map(({ why, key }) => refused(`a key ${why}`, withKey(2, bytes(key)))),
  ];
}

export function refusedSeals(from: {
  readonly edge: SealedToSlot;
  readonly self: SealedToSlot;
  /** The same seed in the same slot, with another registration. */
  readonly otherSelf: SealedToSlot;
  readonly list: Uint8Array;
}): readonly RefusedSeal[] {
  const { edge, self, otherSelf, list } = from;
  const ofEdge = (why: string, change: Partial<RefusedSeal>): RefusedSeal => {
    const { ctx, context, key, secret, sealed } = edge;
    return { why, ctx, context, key, secret, sealed, ...change };
  };
  const ofSelf = (why: string, change: Partial<RefusedSeal>): RefusedSeal => {
    const { ctx, context, key, pad, sealed } = self;
    return { why, ctx, context, key, pad, sealed, ...change };
  };
  const [r, padded] = [edge.sealed.slice(0, 64), edge.sealed.slice(64)];
  return [
    ofEdge('the padded seed changed', { sealed: r + flipped(padded) }),
    ofEdge('R changed', { sealed: flipped(r) + padded }),
    ofEdge('R is not made of the seed, though the pad fits', { sealed: ofAnotherR(edge) }),
    ofEdge('R of order 8', { sealed: toHex(point(ORDER_8)) + padded }),
    ofEdge('R with its highest bit set', { sealed: toHex(withHighestBit(bytes(r))) + padded }),
    ofEdge('a byte short', { sealed: edge.sealed.slice(0, -2) }),
    ofEdge('a byte long', { sealed: `${edge.sealed}00` }),
    ofEdge('opened as a self seed', { context: self.context }),
    ofEdge('opened under the key of another slot', { key: toHex(slotKeyOf(list, 0)) }),
    ofEdge('opened in another buffer', { ctx: toHex(suite.sha256(ascii('another buffer'))) }),
    ofEdge('opened with the secret of another key', { secret: self.secret }),
    ofSelf('the pad of another registration', { pad: otherSelf.pad }),
    ofSelf('opened for another registration', { context: otherSelf.context }),
    ofSelf('a pad that is a byte short', { pad: self.pad.slice(2) }),
    ofSelf('the seed of another registration', { sealed: otherSelf.sealed }),
  ];
}

/** A seed under a pad that fits its R, which is an arbitrary point: an opener that does not recompute R would accept it. */
function ofAnotherR({ ctx, context, key, secret, seed }: SealedToSlot): string {
  const binding = boundAlone(bytes(key), { salt: bytes(ctx), context: bytes(context) });
  const { publicKey } = suite.x25519(suite.sha256(ascii('any ephemeral secret')));
  const pad = padFor(suite, publicKey, bytes(secret), binding) as Uint8Array;
  return toHex(publicKey) + toHex(bytes(seed).map((byte, n) => byte ^ (pad[n] as number)));
}

function point(u: bigint): Uint8Array {
  return Uint8Array.from({ length: SLOT_KEY_BYTES }, (_, n) => Number((u >> BigInt(8 * n)) & 0xffn));
}

function withHighestBit(key: Uint8Array): Uint8Array {
  return key.map((byte, n) => (n === key.length - 1 ? byte | 0x80 : byte));
}

function flipped(hex: string): string {
  return toHex(bytes(hex).map((byte, n) => (n === 0 ? byte ^ 1 : byte)));
}

function bytes(hex: string): Uint8Array {
  return fromHex(hex) ?? new Uint8Array();
}
