/** The keys of one buffer: one for all self seeds and one for each slot's edges, derived by an authority and published as a list. */
import { ascii, concatBytes, equalBytes, toHex } from './bytes.ts';
import { SLOT_KEY_BYTES } from './slot-keys.ts';
import type { Suite } from './suite.ts';

/** The owner of a key: `self` seals every self seed of the buffer, a number the edges and backups of that slot. */
export type SlotKeyRole = 'self' | number;

/** The inputs from which the keys of one buffer are derived. */
export interface SlotKeySource {
  /** 32 secret bytes of the authority, for one task and one key epoch. */
  readonly master: Uint8Array;
  readonly task: Uint8Array;
  /** Random bytes that the authority itself drew for this buffer: repeated bytes would repeat its keys. */
  readonly offer: Uint8Array;
}

const LABEL = ascii('slot-key');
const SELF = 0;
const EDGE = 1;

export function slotSecret(suite: Suite, source: SlotKeySource, role: SlotKeyRole): Uint8Array {
  const [kind, slot] = role === 'self' ? [SELF, 0] : [EDGE, role];
  const info = concatBytes(LABEL, Uint8Array.of(kind), source.offer, Uint8Array.of(slot & 0xff, slot >> 8));
  return suite.hkdf({ secret: source.master, salt: source.task, info, length: SLOT_KEY_BYTES });
}

/** S E_0 .. E_{K-1}: 32 (K + 1) bytes. It yields after each key, so that its caller can do other work in between. */
export function* slotKeyList(suite: Suite, source: SlotKeySource, slots: number): Generator<undefined, Uint8Array> {
  const keys: Uint8Array[] = [];
  for (const role of ['self' as const, ...Array.from({ length: slots }, (_, slot) => slot)]) {
    const secret = slotSecret(suite, source, role);
    keys.push(suite.x25519(secret).publicKey);
    secret.fill(0);
    yield;
  }
  return concatBytes(...keys);
}

/** The key of a role in a list that was checked. */
export function slotKeyOf(list: Uint8Array, role: SlotKeyRole): Uint8Array {
  const place = role === 'self' ? 0 : role + 1;
  return list.subarray(SLOT_KEY_BYTES * place, SLOT_KEY_BYTES * (place + 1));
}

/** The length in bytes of the list of a buffer with this many slots. */
export function slotKeyListBytes(slots: number): number {
  return SLOT_KEY_BYTES * (slots + 1);
}

/** Returns the reason why a list cannot be the one with this hash and this many slots, or undefined. */
export function slotKeyListProblem(
  suite: Suite,
  list: Uint8Array,
  { slots, hash }: { readonly slots: number; readonly hash: Uint8Array },
): string | undefined {
  if (list.length !== slotKeyListBytes(slots))
    return `a list of ${slots} slots has ${slotKeyListBytes(slots)} bytes, got ${list.length}`;
  if (!equalBytes(suite.sha256(list), hash)) return 'the list has another hash';
  const seen = new Set<string>();
  for (let place = 0; place <= slots; place++) {
    const key = list.subarray(SLOT_KEY_BYTES * place, SLOT_KEY_BYTES * (place + 1));
    if (!isSlotKey(key)) return `key ${place} is no point of the curve's large subgroup`;
    const name = toHex(key);
    if (seen.has(name)) return `key ${place} is there twice`;
    seen.add(name);
  }
  return undefined;
}

/** True if these bytes are the canonical encoding of a point with which every key agrees on a secret. */
export function isSlotKey(bytes: Uint8Array): boolean {
  return bytes.length === SLOT_KEY_BYTES && isBelowPrime(bytes) && !LOW_ORDER.has(toHex(bytes));
}

const HIGHEST = SLOT_KEY_BYTES - 1;

/** Below 2^255 - 19, which is ed ff .. ff 7f, lowest byte first. */
function isBelowPrime(bytes: Uint8Array): boolean {
  const highest = bytes[HIGHEST] as number;
  if (highest !== 0x7f) return highest < 0x7f;
  for (let i = 1; i < HIGHEST; i++) if (bytes[i] !== 0xff) return true;
  return (bytes[0] as number) < 0xed;
}

/** The points of order 1, 2, 4 and 8 of Curve25519 and its twist (RFC 7748, section 6.1): u = 0, 1, two of order 8, and -1. */
const LOW_ORDER: ReadonlySet<string> = new Set([
  '00'.repeat(32),
  `01${'00'.repeat(31)}`,
  'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
  '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  `ec${'ff'.repeat(30)}7f`,
]);
