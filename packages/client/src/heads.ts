/** The newest head of the authority's log that this device saw: shown back, it reveals a rolled-back authority. */
import type { Suite } from '@basa/masking';
import { equalBytes, fromHex, toHex } from '@basa/masking';
import type { Head } from '@basa/protocol';
import { headCodec, isSigned } from '@basa/protocol';
import { decoded } from './answers.ts';
import { AnswerError } from './errors.ts';

export class Heads {
  readonly #suite: Suite;
  readonly #authorityKey: Uint8Array;
  #newest: Head | undefined;
  /** Branches that a newer one took the place of: their heads are old, whoever sends them. */
  readonly #past = new Set<string>();

  constructor(suite: Suite, authorityKey: Uint8Array, kept: Head | undefined) {
    this.#suite = suite;
    this.#authorityKey = authorityKey;
    this.#newest = kept;
  }

  get newest(): Head | undefined {
    return this.#newest;
  }

  /** What goes into the header. */
  toHeader(): string | undefined {
    return this.#newest === undefined ? undefined : toHex(headCodec.encode(this.#newest));
  }

  /** Takes in the head of an answer. */
  meet(header: string | undefined): void {
    if (header === undefined) return;
    const head = decoded('authority', headCodec, fromHex(header) ?? new Uint8Array());
    if (!isSigned(this.#suite, headCodec, head, this.#authorityKey)) {
      throw new AnswerError('the authority', 'a head of its log that it did not sign');
    }
    const before = this.#newest;
    if (before !== undefined && equalBytes(before.branch, head.branch)) {
      if (head.sequence > before.sequence) this.#newest = head;
    } else if (!this.#past.has(toHex(head.branch))) {
      if (before !== undefined) this.#past.add(toHex(before.branch));
      this.#newest = head;
    }
  }
}
