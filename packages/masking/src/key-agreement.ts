/**
 * Agreements of X25519 keys, and the check of public keys that others publish. Agreements are requested as work, in batches: browsers compute
 * them asynchronously, all others synchronously.
 */
import { toHex } from './bytes.ts';
import type { Suite } from './suite.ts';

export const AGREEMENT_KEY_BYTES = 32;

/** A secret key, and the peers it is to agree with. The secret may be overwritten once there is a result. */
export interface KeyWork {
  readonly secret: Uint8Array;
  readonly peers: readonly Uint8Array[];
}

export interface KeyResult {
  readonly publicKey: Uint8Array;
  /** One for each peer; undefined if its key is malformed or of small order. */
  readonly shared: readonly (Uint8Array | undefined)[];
}

/** Asks for one result for each work of a batch. */
export type KeySteps<Result> = Generator<readonly KeyWork[], Result, readonly KeyResult[]>;

/** Runs the steps with every agreement computed synchronously. */
export function keysAtOnce<Result>(suite: Pick<Suite, 'x25519'>, steps: KeySteps<Result>): Result {
  const doWork = ({ secret, peers }: KeyWork): KeyResult => {
    const key = suite.x25519(secret);
    return { publicKey: key.publicKey, shared: peers.map((peer) => key.agree(peer)) };
  };
  let next = steps.next();
  while (next.done !== true) next = steps.next(next.value.map(doWork));
  return next.value;
}

/** The suite, with a key of each of these secrets that is made once: making one takes longer than an agreement. */
export function withKeysOf(suite: Suite, secrets: readonly { readonly agreement: Uint8Array }[]): Suite {
  const keys = new Map(secrets.map(({ agreement }) => [agreement, suite.x25519(agreement)]));
  return { ...suite, x25519: (secret) => keys.get(secret) ?? suite.x25519(secret) };
}

/** True if these bytes are the canonical encoding of a point with which every key agrees on a secret. */
export function isAgreementKey(bytes: Uint8Array): boolean {
  return bytes.length === AGREEMENT_KEY_BYTES && isBelowPrime(bytes) && !LOW_ORDER.has(toHex(bytes));
}

const HIGHEST = AGREEMENT_KEY_BYTES - 1;

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
