/** The shares that came back to a SecAgg server, and the secrets reconstructed from them. */
import type { Secret } from '@basa/masking';
import { Reconstruction } from '../field/shamir.ts';
import { type Refused, refused } from '../refusals.ts';
import type { RevealedShare } from './messages.ts';
import { sharePoint } from './parameters.ts';

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
