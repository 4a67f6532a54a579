// Masks, the vector x' and its packing (docs/wire-format.md, "Masks" and "Upload").
import { createCipheriv, randomBytes } from 'node:crypto';
import { hkdf, zeros } from './bytes.mjs';
import { roundedWithNoise } from './noise.mjs';

const FIELD = 2 ** 32 - 5;
/** A group on the wire: its size and the bits of a packed element. */
export const groupOf = (code) => (code === 0 ? { q: FIELD, bits: 32 } : { q: 2 ** code, bits: code });

function stream(seed, ctx, info, length) {
  const made = hkdf(seed, ctx, info);
  return createCipheriv('aes-128-ctr', made.subarray(0, 16), made.subarray(16)).update(zeros(length));
}

/** PRG(seed): `count` elements of the group. */
export function mask(seed, ctx, { q, bits }, count) {
  const width = Math.ceil(bits / 8);
  const words = (info) => {
    const bytes = stream(seed, ctx, info, count * width);
    return (k) => bytes.readUIntLE(k * width, width);
  };
  const first = words(Buffer.from('mask'));
  if (q !== FIELD) return Array.from({ length: count }, (_, k) => first(k) % q);
  return Array.from({ length: count }, (_, k) => {
    let word = first(k);
    for (let n = 1; word >= q; n++) word = words(Buffer.concat([Buffer.from('mask-reject'), Buffer.of(n)]))(k);
    return word;
  });
}

export const weightLimit = (q, K) => Math.min(2 ** 16, Math.floor((q - 1) / (2 * K)));

export function stalenessWeight({ kind, exponent, slope, grace }, age) {
  if (kind === 0) return 1;
  if (kind === 1) return (1 + age) ** -exponent;
  return age <= grace ? 1 : 1 / (slope * (age - grace) + 1);
}

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
const uniform = () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48;

/** Of each entry in a usual task, of the L2 norm in a private one. */
function clipped(update, { clip, privacy }) {
  if (privacy.kind === 0) return update.map((entry) => clamp(entry, -clip, clip));
  const norm = Math.sqrt(update.reduce((sum, entry) => sum + entry * entry, 0));
  return update.map((entry) => entry * Math.min(1, clip / norm));
}

/** x' = [1, 0, 0, 0 | w | v | metrics | x] for an update trained on version `tau`. */
export function vectorOf(update, { tau, exampleWeight, metrics }, drawn) {
  const { q } = groupOf(drawn.group);
  const { W, level, maxStaleness } = drawn;
  const isPrivate = drawn.privacy.kind === 1;
  const alpha = stalenessWeight(drawn.staleness, Math.max(0, drawn.version - tau)) * (isPrivate ? 1 : exampleWeight);
  const w = Math.min(W, Math.max(1, Math.floor(alpha * W + 0.5)));
  const v = clamp(tau - drawn.version + maxStaleness, 0, 2 * maxStaleness);
  const measured = drawn.metrics.map(({ low, high }, k) =>
    Math.round((W * (clamp(metrics[k], low, high) - low)) / (high - low)),
  );
  const round = () =>
    clipped(update, drawn).map((entry) => {
      const scaled = level * (w / W) * entry;
      return Math.floor(scaled) + (uniform() < scaled - Math.floor(scaled) ? 1 : 0);
    });
  const x = isPrivate ? roundedWithNoise(round, drawn) : round();
  return [1, 0, 0, 0, w, v, ...measured, ...x.map((X) => (X < 0 ? q + X : X))];
}

/** Whether x, taken as one block, is all zero or has a norm of x / c below the block floor; noise hides it in a private task. */
export function vanishes(vector, { d, group, level, blockFloor, privacy }) {
  if (privacy.kind === 1) return false;
  const { q } = groupOf(group);
  const x = vector.slice(-d).map((X) => (X > q / 2 ? X - q : X) / level);
  return x.every((entry) => entry === 0) || Math.sqrt(x.reduce((sum, entry) => sum + entry * entry, 0)) < blockFloor;
}

/** y = x' plus and minus masks; `terms` is a list of { sign, seed }. */
export function masked(vector, terms, ctx, group) {
  const { q } = group;
  const sum = [...vector];
  for (const { sign, seed } of terms) {
    mask(seed, ctx, group, vector.length).forEach((element, k) => {
      sum[k] = (sum[k] + (sign > 0 ? element : q - element)) % q;
    });
  }
  return sum;
}

/** Element k at bit k * bits, little-endian, zero bits up to a whole byte. */
export function pack(elements, bits) {
  const packed = zeros(Math.ceil((elements.length * bits) / 8));
  let carry = 0;
  let filled = 0;
  let at = 0;
  for (const element of elements) {
    carry += element * 2 ** filled;
    for (filled += bits; filled >= 8; filled -= 8) {
      packed[at++] = carry % 256;
      carry = Math.floor(carry / 256);
    }
  }
  if (filled > 0) packed[at] = carry;
  return packed;
}
