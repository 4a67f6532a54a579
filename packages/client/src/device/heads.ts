/** The heads of an authority's log that this device saw: the newest, shown back, reveals a rolled-back authority. */
import { equalBytes, fromHex, type Suite, toHex } from '@basa/masking';
import { type Head, type HeadBody, headCodec, isSigned, type KeptHead } from '@basa/protocol';
import { decoded } from '../answers.ts';
import { AnswerError } from '../errors.ts';

/** A head that the pinned key did not sign. */
export class ForeignHead extends AnswerError {
  constructor() {
    super('the authority', 'a head of its log that the pinned key did not sign');
  }
}

export class Heads {
  readonly #suite: Suite;
  readonly #authorityKey: Uint8Array;
  readonly #keptHeads = new WeakMap<Head, KeptHead>();
  #seen: readonly Head[];

  /** `kept`: the heads seen before, of this authority and others. */
  constructor(suite: Suite, authorityKey: Uint8Array, kept: readonly KeptHead[]) {
    this.#suite = suite;
    this.#authorityKey = authorityKey;
    this.#seen = headsOf(kept, authorityKey);
  }

  /** The last head of each branch, the current one at the end: heads of the other branches are old, even if they are signed. */
  get seen(): readonly Head[] {
    return this.#seen;
  }

  /** The same in the form in which they are kept. */
  get kept(): readonly KeptHead[] {
    return this.#seen.map((head) => this.#keptOf(head));
  }

  get newest(): Head | undefined {
    return this.#seen.at(-1);
  }

  /** The value of the request header. */
  toHeader(): string | undefined {
    return this.newest === undefined ? undefined : toHex(headCodec.encode(this.newest));
  }

  /** Processes the head of an answer. */
  meet(header: string | undefined): void {
    if (header === undefined) return;
    const head = decoded('authority', headCodec, fromHex(header) ?? new Uint8Array());
    if (!isSigned(this.#suite, headCodec, head, this.#authorityKey)) {
      throw new ForeignHead();
    }
    this.#seen = withHead(this.#seen, head);
  }

  /** Returns the same object for the same head, so that the store can tell which are new. */
  #keptOf(head: Head): KeptHead {
    const known = this.#keptHeads.get(head) ?? { authorityKey: this.#authorityKey, head };
    this.#keptHeads.set(head, known);
    return known;
  }
}

function headsOf(kept: readonly KeptHead[], authorityKey: Uint8Array): readonly Head[] {
  return kept.flatMap((one) => (equalBytes(one.authorityKey, authorityKey) ? [one.head] : []));
}

/** These and a further one of the same authority. */
export function withKeptHead(kept: readonly KeptHead[], { authorityKey, head }: KeptHead): readonly KeptHead[] {
  const others = kept.filter((one) => !equalBytes(one.authorityKey, authorityKey));
  const heads = withHead(headsOf(kept, authorityKey), head);
  return [...others, ...heads.map((one) => ({ authorityKey, head: one }))];
}

/**
 * True if the log has since continued in another branch. Within a branch, statements from the server may be a little older than those
 * directly from the authority. Their age is checked with the signed time.
 */
export function isOfLeftBranch(seen: readonly Head[], { branch }: HeadBody): boolean {
  const known = seen.find((head) => equalBytes(head.branch, branch));
  return known !== undefined && known !== seen.at(-1);
}

/** Returns these and a further one; the same list if it is not new. */
function withHead(seen: readonly Head[], head: Head): readonly Head[] {
  const at = seen.findIndex(({ branch }) => equalBytes(branch, head.branch));
  if (at < 0) return [...seen, head];
  const isNewer = at === seen.length - 1 && head.sequence > (seen[at] as Head).sequence;
  return isNewer ? [...seen.slice(0, -1), head] : seen;
}
