/** The type of an attack of the threat model: one schedule, played against `paper` and against `one-shot`. */
import type { Environment, PaperSealings } from '@basa/simulator';
import type { AttackRefusal } from './judgement.ts';

/** The environment of an attack. Every run asks for its own sealings: real cryptography, or a simulation of it. */
export interface AttackSetting {
  readonly environment: Environment;
  paperSealings(): PaperSealings;
}

export interface AttackResult {
  /** The updates, and differences of two updates, that the adversary computes: `x of U2`, `x of Ua - x of Ub`. */
  readonly findings: readonly string[];
  /** In the order they occurred, each once. */
  readonly refusals: readonly AttackRefusal[];
  /** True if the adversary got the sum of a batch, as the server should. */
  readonly hasSum: boolean;
  /** H1: the expected sum, and the actual one. */
  readonly wrongSum?: { readonly expected: readonly number[]; readonly got: readonly number[] };
}

export interface Attack {
  readonly id: string;
  /** The schedule against `paper`. */
  readonly schedule: string;
  /** What the same adversary tries in `one-shot`. */
  readonly inOneShot: string;
  paper(setting: AttackSetting): AttackResult;
  oneShot(setting: AttackSetting): AttackResult;
}
