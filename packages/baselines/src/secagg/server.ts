/**
 * The server of one SecAgg round. It forwards and counts messages, and opens the sum from the returned shares. It never holds a vector: the
 * caller adds up the vectors that `receiveMasked` accepts.
 *
 *     keys (U1) -> shares (U2) -> masked inputs (U3) -> answers -> opening       each set closes with at least t
 */
import { equalBytes, type MaskPlan, type MaskTerm, type RandomBytes, type Secret, type Suite } from '@basa/masking';
import { Reconstruction } from '../field/field.ts';
import { agree } from '../pairwise.ts';
import { type Refused, refused } from '../refusals.ts';
import type { PublicKeys, RevealedShare, SealedShares } from './messages.ts';
import { drawGraph, type Graph, maskSign, type SecAggParameters, sharePoint } from './parameters.ts';

export class SecAggServer {
  readonly #suite: Suite;
  readonly #randomBytes: RandomBytes;
  readonly #parameters: SecAggParameters;
  readonly #keys = new Map<number, PublicKeys>();
  readonly #shares = new Map<number, readonly SealedShares[]>();
  readonly #survivors = new Set<number>();
  readonly #answered = new Set<number>();
  readonly #revealed: RevealedShares;
  #graph: Graph | undefined;

  constructor(parameters: SecAggParameters, ports: { readonly suite: Suite; readonly randomBytes: RandomBytes }) {
    this.#parameters = parameters;
    this.#revealed = new RevealedShares(parameters.threshold);
    this.#suite = ports.suite;
    this.#randomBytes = ports.randomBytes;
  }

  receiveKeys(keys: PublicKeys): Refused | undefined {
    if (this.#graph !== undefined || this.#keys.has(keys.user)) return refused('not-expected', `user ${keys.user}`);
    this.#keys.set(keys.user, keys);
    return undefined;
  }

  /** U1 is complete: returns the keys of its neighbours for each of its users. */
  closeKeys(): { readonly kind: 'rosters'; readonly rosterOf: (user: number) => PublicKeys[] } | Refused {
    if (this.#keys.size < this.#parameters.threshold) return refused('too-few', `${this.#keys.size} users have keys`);
    const users = [...this.#keys.keys()].sort((a, b) => a - b);
    const graph = drawGraph(users, this.#parameters.graph, this.#randomBytes);
    this.#graph = graph;
    return {
      kind: 'rosters',
      rosterOf: (user) => graph.neighboursOf(user).map((peer) => this.#keys.get(peer) as PublicKeys),
    };
  }

  receiveShares(user: number, shares: readonly SealedShares[]): Refused | undefined {
    const expected = this.#keys.has(user) && !this.#shares.has(user) ? this.#neighboursOf(user) : [];
    if (expected.join() !== shares.map(({ peer }) => peer).join()) return refused('not-expected', `shares of ${user}`);
    this.#shares.set(user, shares);
    return undefined;
  }

  /** U2 is complete: returns the shares that each of its users receives from its neighbours in it. */
  closeShares(): { readonly kind: 'inboxes'; readonly inboxOf: (user: number) => SealedShares[] } | Refused {
    if (this.#shares.size < this.#parameters.threshold) return refused('too-few', `${this.#shares.size} users shared`);
    const inboxOf = (user: number): SealedShares[] =>
      this.#neighboursOf(user).flatMap((peer) => {
        const shares = this.#shares.get(peer)?.find((share) => share.peer === user);
        return shares === undefined ? [] : [{ peer, sealed: shares.sealed }];
      });
    return { kind: 'inboxes', inboxOf };
  }

  /** Accepts y of this user into the sum, once. */
  receiveMasked(user: number): Refused | undefined {
    if (!this.#shares.has(user) || this.#survivors.has(user)) return refused('not-expected', `the input of ${user}`);
    this.#survivors.add(user);
    return undefined;
  }

  /** U3 is complete: returns the survivors each of its users is asked about, which are its neighbours and itself. */
  closeInputs(): { readonly kind: 'survivors'; readonly survivorsFor: (user: number) => number[] } | Refused {
    const { size } = this.#survivors;
    if (size < this.#parameters.threshold) return refused('too-few', `${size} users sent their inputs`);
    const survivorsFor = (user: number): number[] =>
      [...this.#neighboursOf(user), user].filter((peer) => this.#survivors.has(peer)).sort((a, b) => a - b);
    return { kind: 'survivors', survivorsFor };
  }

  get survivors(): readonly number[] {
    return [...this.#survivors].sort((a, b) => a - b);
  }

  receiveAnswer(user: number, revealed: readonly RevealedShare[]): Refused | undefined {
    if (!this.#survivors.has(user) || this.#answered.has(user)) return refused('not-expected', `an answer of ${user}`);
    this.#answered.add(user);
    this.#revealed.add(user, revealed);
    return undefined;
  }

  /**
   * Returns the masks that turn the sum of y over U3 into the sum of x: - PRG(b_v) for every survivor, and for every v
   * that dropped between shares and input the masks sign(u, v) PRG(s_uv) that its neighbours u in U3 had added.
   */
  open(): { readonly kind: 'plan'; readonly plan: MaskPlan } | Refused {
    const terms: MaskTerm[] = [];
    for (const user of this.survivors) {
      const seed = this.#revealed.secretOf(user, 'self-seed');
      if ('kind' in seed) return seed;
      terms.push({ seed, sign: -1 });
    }
    for (const dropped of this.#shares.keys()) {
      const peers = this.#neighboursOf(dropped).filter((peer) => this.#survivors.has(peer));
      if (this.#survivors.has(dropped) || peers.length === 0) continue;
      const maskKey = this.#revealed.secretOf(dropped, 'mask-key');
      if ('kind' in maskKey) return maskKey;
      const advertised = (this.#keys.get(dropped) as PublicKeys).maskKey;
      if (!equalBytes(this.#suite.x25519(maskKey.reveal()).publicKey, advertised)) {
        return refused('share-invalid', `the shares of user ${dropped} do not give its key`);
      }
      for (const peer of peers) {
        const peerKey = (this.#keys.get(peer) as PublicKeys).maskKey;
        const seed = agree(this.#suite, maskKey, peerKey, 'secagg mask');
        if (seed === undefined) return refused('key-invalid', `of user ${peer}`);
        terms.push({ seed, sign: maskSign(peer, dropped) === 1 ? -1 : 1 });
      }
      maskKey.wipe();
    }
    return { kind: 'plan', plan: { modulus: this.#parameters.modulus, salt: this.#parameters.session, terms } };
  }

  #neighboursOf(user: number): readonly number[] {
    if (this.#graph === undefined) throw new Error('the keys are not closed');
    return this.#graph.neighboursOf(user);
  }
}

interface HeldShare {
  readonly holder: number;
  readonly share: Secret;
}

export class RevealedShares {
  readonly #threshold: number;
  readonly #held = { 'self-seed': new Map<number, HeldShare[]>(), 'mask-key': new Map<number, HeldShare[]>() };
  readonly #reconstruction = new Reconstruction();

  constructor(threshold: number) {
    this.#threshold = threshold;
  }

  add(holder: number, revealed: readonly RevealedShare[]): void {
    for (const { about, of, share } of revealed) {
      const held = this.#held[of].get(about) ?? [];
      held.push({ holder, share });
      this.#held[of].set(about, held);
    }
  }

  /** Reconstructs a secret from the shares of the first t holders. */
  secretOf(user: number, of: RevealedShare['of']): Secret | Refused {
    const held = (this.#held[of].get(user) ?? []).sort((a, b) => a.holder - b.holder).slice(0, this.#threshold);
    if (held.length < this.#threshold) {
      return refused('too-few-shares', `${held.length} of ${this.#threshold} for the ${of} of user ${user}`);
    }
    return this.#reconstruction.secretOf(
      held.map(({ holder }) => sharePoint(holder)),
      held.map(({ share }) => share),
    );
  }
}
