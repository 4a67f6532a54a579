/** The type of an attack of the threat model: one schedule against `paper`, and what stops its counterpart in `one-shot`. */
import type { RefusalReason } from '@basa/protocol';
import type { Environment, PaperSealings } from '../federation/world.ts';

/** A refusal that protects, by the user or by the authority. Refusals of the adversary itself do not count. */
export interface AttackRefusal {
  readonly by: 'user' | 'authority';
  readonly reason: RefusalReason;
}

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
  /** The attempt of the same adversary in `one-shot`, played by `lab/src/oracle/paper-attacks.ts`. */
  readonly inOneShot: string;
  /** The reasons for which honest devices and authorities refuse it there, each with who refuses. */
  readonly stoppedBy: readonly AttackRefusal[];
  paper(setting: AttackSetting): AttackResult;
}
