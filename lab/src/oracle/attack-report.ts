/** The adversary's knowledge computed from everything it has seen, and the other promises that must hold. */
import type { AttackRefusal } from '@basa/simulator/attacks';

/** The result of an attack. */
export interface AttackReport {
  /** Combinations of honest inputs the adversary can compute, for people. */
  readonly learned: readonly string[];
  /** The same, as far as they exceed the sums of the final batches; empty means that nothing leaked. */
  readonly leaked: readonly string[];
  readonly closed: number;
  /** Final batches with honest uploads. */
  readonly sums: number;
  /** Those whose sum over honest uploads the adversary can compute, as it should. */
  readonly sumsFound: number;
  /** Violations other than secrecy. */
  readonly broken: readonly string[];
  /** The requests that honest devices and authorities refused, each once. */
  readonly refusals: readonly AttackRefusal[];
}
