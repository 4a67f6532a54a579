/**
 * One user of LightSecAgg, in rounds (So et al. 2022) or with a buffer (So et al. 2021): a mask for each trip, whose
 * shares all others hold, and one answer about each mask.
 *
 *     connect -> encodeMask(stamp) and receiveShares -> mask(stamp) -> answer(entries)        stamp: the version trained on
 */
import { FIELD, FIELD_PRIME, type MaskPlan, SEED_BYTES, Secret } from '@basa/masking';
import type { AggregationTools } from '../aggregation.ts';
import { carryOut } from '../aggregation.ts';
import { agree, generateKeyPair, type KeyPair, openBetween, sealBetween } from '../pairwise.ts';
import { type Refused, refused } from '../refusals.ts';
import type { MaskCode } from './mask-code.ts';
import { type ChannelKey, decodeVector, encodeVector, type MaskEntry, type SealedShare } from './messages.ts';
import { type LightSecAggParameters, pieceLength } from './parameters.ts';

export class LightSecAggUser {
  readonly id: number;
  readonly #tools: AggregationTools;
  readonly #parameters: LightSecAggParameters;
  readonly #code: MaskCode;
  readonly #keys: KeyPair;
  readonly #channels = new Map<number, Secret>();
  /** By stamp: the seed of this user's own mask until it has been added. */
  readonly #seeds = new Map<number, Secret>();
  /** e_{i -> this} by user and stamp, until this user has answered about it. */
  readonly #shares = new Map<string, Uint32Array>();
  readonly #answered = new Set<string>();

  constructor(id: number, parameters: LightSecAggParameters, code: MaskCode, tools: AggregationTools) {
    this.id = id;
    this.#tools = tools;
    this.#parameters = parameters;
    this.#code = code;
    this.#keys = generateKeyPair(tools.masks.suite, tools.randomBytes);
  }

  advertise(): ChannelKey {
    return { user: this.id, channelKey: this.#keys.publicKey };
  }

  /** Agrees on keys with all others, once for each training run. */
  connect(roster: readonly ChannelKey[]): Refused | undefined {
    for (const { user, channelKey } of roster) {
      if (user === this.id) continue;
      const channel = agree(this.#tools.masks.suite, this.#keys.secretKey, channelKey, 'lightsecagg channel');
      if (channel === undefined) return refused('key-invalid', `of user ${user}`);
      this.#channels.set(user, channel);
    }
    return undefined;
  }

  /** Offline: a uniform z in U - T pieces and T pieces of noise, encoded for all users. z is the beginning of PRG(seed). */
  encodeMask(stamp: number): SealedShare[] {
    const { masks, combinations, randomBytes } = this.#tools;
    const seed = new Secret(randomBytes(SEED_BYTES));
    this.#seeds.set(stamp, seed);
    const length = pieceLength(this.#parameters);
    const words = new Uint32Array(length * this.#parameters.survivors);
    carryOut(words, this.#plan(new Secret(seed.reveal().slice())), masks);
    const pieces = Array.from({ length: this.#parameters.survivors }, (_, m) =>
      words.subarray(m * length, (m + 1) * length),
    );
    const shares = this.#code.encode(pieces, combinations);
    words.fill(0);
    this.#shares.set(nameOf(this.id, stamp), shares[this.id] as Uint32Array);
    return [...this.#channels].map(([peer, channel]) => {
      const plaintext = encodeVector(shares[peer] as Uint32Array);
      const sealed = sealBetween(masks.suite, channel, this.#envelope(this.id, peer, stamp), plaintext);
      plaintext.fill(0);
      shares[peer]?.fill(0);
      return { peer, sealed };
    });
  }

  /** Keeps the share that `peer` made for this user. */
  receiveShare({ peer, sealed }: SealedShare, stamp: number): Refused | undefined {
    const channel = this.#channels.get(peer);
    if (channel === undefined) return refused('not-expected', `a share of user ${peer}`);
    const { suite } = this.#tools.masks;
    const plaintext = openBetween(suite, channel, this.#envelope(peer, this.id, stamp), sealed);
    const share = plaintext && decodeVector(plaintext, pieceLength(this.#parameters));
    plaintext?.fill(0);
    if (share === undefined) return refused('share-invalid', `from user ${peer}`);
    this.#shares.set(nameOf(peer, stamp), share);
    return undefined;
  }

  /** y = x + z, in place; the seed is used up. */
  maskInPlace(input: Uint32Array, stamp: number): Refused | undefined {
    const seed = this.#seeds.get(stamp);
    if (seed === undefined) return refused('already-answered', `the mask of version ${stamp} is used up`);
    if (input.length !== this.#parameters.dimension) return refused('wrong-length', `${input.length} elements`);
    this.#seeds.delete(stamp);
    carryOut(input, this.#plan(seed), this.#tools.masks);
    return undefined;
  }

  /** a = sum_i S_i e_{i -> this}: about enough masks at a time, and about each mask once. */
  answer(entries: readonly MaskEntry[]): { readonly kind: 'answer'; readonly share: Uint32Array } | Refused {
    const { fewest } = this.#parameters;
    const names = entries.map(({ user, stamp }) => nameOf(user, stamp));
    const counted = new Set(names).size;
    if (counted < fewest) return refused('too-few', `${counted} masks of at least ${fewest}`);
    const spent = names.find((name, n) => this.#answered.has(name) || names.indexOf(name) !== n);
    if (spent !== undefined) return refused('already-answered', `the mask ${spent}`);
    const idle = entries.find(({ weight }) => weight < 1 || weight >= FIELD_PRIME);
    if (idle !== undefined) return refused('not-expected', `a weight of ${idle.weight}`);
    const shares: Uint32Array[] = [];
    for (const name of names) {
      const share = this.#shares.get(name);
      if (share === undefined) return refused('share-missing', `the mask ${name}`);
      shares.push(share);
    }
    const weights = Uint32Array.from(entries, ({ weight }) => weight);
    const sum = new Uint32Array(pieceLength(this.#parameters));
    this.#tools.combinations.combine([weights], shares, [sum]);
    for (const name of names) {
      this.#answered.add(name);
      this.#shares.get(name)?.fill(0);
      this.#shares.delete(name);
    }
    return { kind: 'answer', share: sum };
  }

  #plan(seed: Secret): MaskPlan {
    const { session } = this.#parameters;
    return { modulus: FIELD, salt: session, terms: [{ seed, sign: 1 }] };
  }

  #envelope(from: number, to: number, stamp: number) {
    return { session: this.#parameters.session, from, to, stamp };
  }
}

function nameOf(user: number, stamp: number): string {
  return `${user}@${stamp}`;
}
