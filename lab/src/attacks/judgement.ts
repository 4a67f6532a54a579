/** The adversary's knowledge computed from everything it has seen, and the other promises that must hold. */
import type { RefusalReason } from '@basa/protocol';

export interface Judgement {
  /** Combinations of honest inputs the adversary can compute, for people. */
  readonly learned: readonly string[];
  /** The same, as far as they exceed the sums of the closed buffers; empty means that nothing leaked. */
  readonly leaked: readonly string[];
  readonly closed: number;
  /** Closed buffers with honest accepted users. */
  readonly sums: number;
  /** Those whose sum over honest accepted users the adversary can compute, as it should. */
  readonly sumsFound: number;
  /**
   * Sums that cannot be computed: the server told the user of a dropped slot something else than the authority, so the authority withholds
   * the key of that slot. The lying server has only spoilt its own sum.
   */
  readonly sumsWithheld: number;
}

/** The result of an attack. */
export interface AttackReport extends Judgement {
  /** Violations other than secrecy: an acknowledged update about which server and authority do not agree. */
  readonly broken: readonly string[];
  /** The reasons with which honest authorities refused the adversary's requests, each once. */
  readonly refusals?: readonly RefusalReason[];
}

export const NOTHING: AttackReport = {
  learned: [],
  leaked: [],
  closed: 0,
  sums: 0,
  sumsFound: 0,
  sumsWithheld: 0,
  broken: [],
};
