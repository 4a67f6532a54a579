/** What an adversary can compute of what it has seen, and what must hold besides. */
import type { RefusalReason } from '@basa/protocol';

export interface Judgement {
  /** Combinations of honest inputs the adversary can compute, for people. */
  readonly learned: readonly string[];
  /** The same, where they are more than the sums of the closed buffers; empty means that nothing leaked. */
  readonly leaked: readonly string[];
  readonly closed: number;
  /** Closed buffers with honest accepted users. */
  readonly sums: number;
  /** Those whose sum over honest accepted users it can compute, as it should. */
  readonly sumsFound: number;
  /**
   * Those that nobody can compute, because the server told the user of a dropped slot another story than the authority, which
   * keeps the key of that slot to itself then: a lying server has spoilt its own sum.
   */
  readonly sumsWithheld: number;
}

/** What an attack came to. */
export interface AttackReport extends Judgement {
  /** What is wrong besides secrecy: an acknowledged update that server and authority do not agree about. */
  readonly broken: readonly string[];
  /** Reasons for which honest authorities refused what the adversary asked for, each once. */
  readonly refusals?: readonly RefusalReason[];
}
