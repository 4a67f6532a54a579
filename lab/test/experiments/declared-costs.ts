/** Costs by declaration: every operation takes a millisecond, so that a test can count them. */
import type { Costs, Profile, SealingPrices, Share } from '@basa/simulator/virtual-time';

const ONE = { ms: 1, spread: 0 };
const MODULUS = {
  expand: ONE,
  add: ONE,
  quantise: ONE,
  pack: ONE,
  unpack: ONE,
  hashBody: ONE,
  judge: ONE,
  dequantise: ONE,
};
const VECTORS = { ring: MODULUS, field: MODULUS, words: { copy: ONE, floatAdd: ONE } };
const SEALING: SealingPrices = {
  seal: ONE,
  open: ONE,
  issue: ONE,
  sealedBytes: 64,
  keyBytes: 32,
};

export const K = 10;
export const LARGE = 1_000_000;
export const SMALL = 7850;

function share(ms: number, expansions = 0): Share {
  return { ms, counts: { expansions, seals: 0, opens: 0, issues: 0 } };
}

function phase(name: string, user: Share, server: Share): Profile['phases'][number] {
  const each = <Item>(item: Item): readonly Item[] => Array.from({ length: K }, () => item);
  return { name, users: each(user), server, authority: share(0) };
}

/** Ten users, who expand a mask for each other and one of their own; the server expands the ten own ones. */
const SECAGG: Profile = {
  phases: [phase('masked-input', share(0, K), share(0)), phase('unmasking', share(0), share(0, K))],
};

/** Ten devices of one mask each, and an authority that examines ten uploads and expands ten masks. */
const ONE_SHOT: Profile = {
  phases: [
    { ...phase('upload', share(3, 1), share(20)), authority: share(10) },
    { ...phase('close', share(0), share(10)), authority: share(10, K) },
  ],
};

export const COSTS: Costs = {
  machine: { cpu: 'declared', architecture: 'none', cores: 1, node: 'v0', load: 0, date: '2026-01-01' },
  clock: 'processor time',
  vectors: { [LARGE]: VECTORS, [SMALL]: VECTORS },
  sealing: { 'cp-abe': SEALING },
  profiles: {
    [`BASA one-shot ${K} -0`]: ONE_SHOT,
    [`BASA one-shot (3 of 4) ${K} -0`]: ONE_SHOT,
    [`SecAgg ${K} -0`]: SECAGG,
  },
  lightSecAgg: {},
  training: { 'logistic regression': ONE },
  durable: { ms: 0, spread: 0 },
};
