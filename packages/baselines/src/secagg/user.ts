/**
 * One user in one SecAgg round (Bonawitz et al. 2017, semi-honest; over neighbours: Bell et al. 2020).
 *
 *     advertise -> share -> mask -> answer      one object, one round; out of order is a fault of the caller
 */
import {
  concatBytes,
  type MaskPlan,
  type MaskTerm,
  type RandomBytes,
  SEED_BYTES,
  Secret,
  type Suite,
  toHex,
} from '@basa/masking';
import { shareSecret } from '../field/field.ts';
import { agree, generateKeyPair, type KeyPair, openBetween, sealBetween } from '../pairwise.ts';
import { type Refused, refused } from '../refusals.ts';
import type { PublicKeys, RevealedShare, SealedShares } from './messages.ts';
import { holdsOwnShare, maskSign, type SecAggParameters, sharePoint } from './parameters.ts';

export interface SecAggUserPorts {
  readonly suite: Suite;
  readonly randomBytes: RandomBytes;
}

interface Peer {
  readonly maskKey: Uint8Array;
  readonly channel: Secret;
}

export class SecAggUser {
  readonly id: number;
  readonly #ports: SecAggUserPorts;
  readonly #parameters: SecAggParameters;
  readonly #channel: KeyPair;
  readonly #masking: KeyPair;
  readonly #selfSeed: Secret;
  readonly #peers = new Map<number, Peer>();
  #inbox: readonly SealedShares[] = [];
  #ownShare: Secret | undefined;
  #answered = false;

  constructor(id: number, parameters: SecAggParameters, ports: SecAggUserPorts) {
    this.id = id;
    this.#ports = ports;
    this.#parameters = parameters;
    this.#channel = generateKeyPair(ports.suite, ports.randomBytes);
    this.#masking = generateKeyPair(ports.suite, ports.randomBytes);
    this.#selfSeed = new Secret(ports.randomBytes(SEED_BYTES));
  }

  /** Round 0, AdvertiseKeys. */
  advertise(): PublicKeys {
    return { user: this.id, channelKey: this.#channel.publicKey, maskKey: this.#masking.publicKey };
  }

  /** Round 1, ShareKeys: t-of-n shares of s^SK and b for every holder, sealed. `roster` is U1, or the neighbours in it. */
  share(roster: readonly PublicKeys[]): { readonly kind: 'shares'; readonly shares: SealedShares[] } | Refused {
    const { suite, randomBytes } = this.#ports;
    const { threshold } = this.#parameters;
    const others = roster.filter(({ user }) => user !== this.id);
    if (this.#counted(others.length) < threshold) return refused('too-few', `${others.length} peers have keys`);
    const keys = [this.advertise(), ...others].flatMap(({ channelKey, maskKey }) => [channelKey, maskKey]);
    if (new Set(keys.map(toHex)).size < 2 * (others.length + 1)) {
      return refused('keys-not-distinct', `a roster of ${others.length}`);
    }
    const holders = [...others.map(({ user }) => user), ...(holdsOwnShare(this.#parameters) ? [this.id] : [])];
    for (const { user, channelKey, maskKey } of others) {
      const channel = agree(suite, this.#channel.secretKey, channelKey, 'secagg channel');
      if (channel === undefined) return refused('key-invalid', `of user ${user}`);
      this.#peers.set(user, { maskKey, channel });
    }
    const scheme = { threshold, points: holders.map(sharePoint) };
    const maskKeyShares = shareSecret(this.#masking.secretKey, scheme, randomBytes);
    const seedShares = shareSecret(this.#selfSeed, scheme, randomBytes);
    const shares = others.map(({ user }, n) =>
      this.#sealFor(user, maskKeyShares[n] as Secret, seedShares[n] as Secret),
    );
    this.#ownShare = seedShares[others.length];
    maskKeyShares[others.length]?.wipe();
    return { kind: 'shares', shares };
  }

  /**
   * Round 2, MaskedInputCollection: y = x + PRG(b) + sum_{u<v} PRG(s_uv) - sum_{u>v} PRG(s_uv) over v in U2, whose
   * shares are the inbox. Wipe the plan when it has been carried out.
   */
  mask(inbox: readonly SealedShares[]): { readonly kind: 'plan'; readonly plan: MaskPlan } | Refused {
    const { threshold, session, modulus } = this.#parameters;
    if (this.#counted(inbox.length) < threshold) return refused('too-few', `${inbox.length} peers shared their keys`);
    const terms: MaskTerm[] = [{ seed: this.#selfSeed, sign: 1 }];
    for (const { peer } of inbox) {
      const known = this.#peers.get(peer);
      if (known === undefined) return refused('not-expected', `shares of user ${peer}`);
      const seed = agree(this.#ports.suite, this.#masking.secretKey, known.maskKey, 'secagg mask');
      if (seed === undefined) return refused('key-invalid', `of user ${peer}`);
      terms.push({ seed, sign: maskSign(this.id, peer) });
    }
    this.#inbox = inbox;
    this.#masking.secretKey.wipe();
    return { kind: 'plan', plan: { modulus, salt: session, terms } };
  }

  /** Round 4, Unmasking: for each peer in U2 the share of b if it is in U3, or of s^SK if it dropped; once. */
  answer(survivors: readonly number[]): { readonly kind: 'answer'; readonly revealed: RevealedShare[] } | Refused {
    if (this.#answered) return refused('already-answered', `user ${this.id}`);
    const alive = new Set(survivors);
    const known = new Set(this.#inbox.map(({ peer }) => peer));
    const stranger = survivors.find((user) => user !== this.id && !known.has(user));
    if (stranger !== undefined) return refused('not-expected', `user ${stranger} as a survivor`);
    const others = survivors.filter((user) => user !== this.id).length;
    if (this.#counted(others) < this.#parameters.threshold) return refused('too-few', `${others} peers survived`);
    const revealed: RevealedShare[] = [];
    for (const { peer, sealed } of this.#inbox) {
      const share = this.#openFrom(peer, sealed, alive.has(peer));
      if (share === undefined) return refused('share-invalid', `from user ${peer}`);
      revealed.push({ about: peer, of: alive.has(peer) ? 'self-seed' : 'mask-key', share });
    }
    if (this.#ownShare !== undefined) revealed.push({ about: this.id, of: 'self-seed', share: this.#ownShare });
    this.#answered = true;
    this.#channel.secretKey.wipe();
    for (const { channel } of this.#peers.values()) channel.wipe();
    return { kind: 'answer', revealed };
  }

  /** In SecAgg the user counts itself; among neighbours it does not. */
  #counted(others: number): number {
    return holdsOwnShare(this.#parameters) ? others + 1 : others;
  }

  #sealFor(peer: number, maskKeyShare: Secret, seedShare: Secret): SealedShares {
    const { channel } = this.#peers.get(peer) as Peer;
    const plaintext = concatBytes(maskKeyShare.reveal(), seedShare.reveal());
    const envelope = { session: this.#parameters.session, from: this.id, to: peer };
    const sealed = sealBetween(this.#ports.suite, channel, envelope, plaintext);
    for (const secret of [maskKeyShare, seedShare]) secret.wipe();
    plaintext.fill(0);
    return { peer, sealed };
  }

  #openFrom(peer: number, sealed: Uint8Array, isAlive: boolean): Secret | undefined {
    const { channel } = this.#peers.get(peer) as Peer;
    const envelope = { session: this.#parameters.session, from: peer, to: this.id };
    const plaintext = openBetween(this.#ports.suite, channel, envelope, sealed);
    if (plaintext === undefined) return undefined;
    const half = plaintext.length / 2;
    const share = new Secret(isAlive ? plaintext.slice(half) : plaintext.slice(0, half));
    plaintext.fill(0);
    return share;
  }
}
