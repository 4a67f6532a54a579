// Engine 3, slot keys (docs/wire-format.md, "Slot keys"): seeds shared among the authorities of a buffer, each share padded by X25519.
import { hkdf, must, sha256 } from './bytes.mjs';
import { x25519, x25519Public } from './keys.mjs';

const P = 2n ** 255n - 19n;
const SMALL_ORDER = new Set([
  0n,
  1n,
  P - 1n,
  325606250916557431795983626356110631294008115727848805560023387167927233504n,
  39382357235489614581723060781553021112529911719440698176882885853963445705823n,
]);
const coordinate = (key) => BigInt(`0x${Buffer.from(key).reverse().toString('hex')}`);
const isGoodKey = (key) => key.length === 32 && coordinate(key) < P && !SMALL_ORDER.has(coordinate(key));

/** The lists of all parts, each S E_0 .. E_{K-1}, checked against what the descriptor's parts name. */
export function readLists({ parts, K }, all) {
  const size = 32 * (K + 1);
  must(all.length === size * parts.length, 'lists of slot keys of another length');
  return parts.map((part, k) => {
    const whole = all.subarray(k * size, (k + 1) * size);
    must(
      part.sealingKey.length === 64 && sha256(whole).equals(part.sealingKey.subarray(32)),
      'slot keys that the part does not name',
    );
    const keys = Array.from({ length: K + 1 }, (_, at) => whole.subarray(32 * at, 32 * at + 32));
    must(keys.every(isGoodKey), 'a slot key that is not a good one');
    must(new Set(keys.map((key) => key.toString('hex'))).size === keys.length, 'a slot key twice');
    return { authority: part.authority, self: keys[0], edges: keys.slice(1) };
  });
}

/** Multiplication of AES: modulo x^8 + x^4 + x^3 + x + 1. */
function times(a, b) {
  let product = 0;
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ (product & 0x80 ? 0x11b : 0);
    if ((b >> bit) & 1) product ^= a;
  }
  return product;
}
const inverse = (a) => Array.from({ length: 256 }, (_, b) => b).find((b) => times(a, b) === 1);
const xor = (one, other) => one.map((byte, k) => byte ^ other[k]);
const scaled = (share, factor) => share.map((byte) => times(byte, factor));

function shareOf(seed, authority, t, ctx, context) {
  let share = seed;
  let power = 1;
  for (let k = 1; k < t; k++) {
    power = times(power, authority + 1);
    share = xor(share, scaled(hkdf(seed, ctx, Buffer.concat([Buffer.from('share'), context, Buffer.of(k)])), power));
  }
  return share;
}

const padOf = (secret, authority, R, key, ctx, context) =>
  hkdf(secret, ctx, Buffer.concat([Buffer.from('pad'), Buffer.of(authority), R, key, context]));

/** `to` is one key for each part: a list of { authority, key }. */
export function seal(seed, to, { ctx, t }, context) {
  const e = hkdf(seed, ctx, Buffer.concat([Buffer.from('eph'), context]));
  const R = x25519Public(e);
  const padded = to.map(({ authority, key }) =>
    xor(shareOf(seed, authority, t, ctx, context), padOf(x25519(e, key), authority, R, key, ctx, context)),
  );
  return Buffer.concat([R, ...padded]);
}

/** The seed, or undefined. `secrets` holds t secret keys by authority; everything is made again of what they give. */
export function open(sealed, to, secrets, buffer, context) {
  if (sealed.length !== 32 + 32 * to.length) return undefined;
  const R = sealed.subarray(0, 32);
  try {
    const shares = to.flatMap(({ authority, key }, k) => {
      const secret = secrets.get(authority);
      if (secret === undefined) return [];
      const pad = padOf(x25519(secret, R), authority, R, key, buffer.ctx, context);
      return [{ point: authority + 1, share: xor(sealed.subarray(32 + 32 * k, 64 + 32 * k), pad) }];
    });
    const chosen = shares.slice(0, buffer.t);
    const seed = chosen
      .map(({ point, share }) => {
        const others = chosen.filter((other) => other.point !== point);
        return scaled(
          share,
          others.reduce((factor, other) => times(factor, times(other.point, inverse(other.point ^ point))), 1),
        );
      })
      .reduce(xor);
    return seal(seed, to, buffer, context).equals(sealed) ? seed : undefined;
  } catch {
    return undefined; // an R of small order
  }
}
