/** The type of an attack: one schedule of the threat model, played against the mode it breaks and against `sealed`. */
import type { RefusalReason } from '@basa/protocol';
import type { Environment, PaperSealings, Sealings } from '@basa/simulator';
import type { Held } from './adversary.ts';

/** The environment of an attack. Every run asks for its own sealings: real cryptography, or a simulation of it. */
export interface AttackSetting {
  readonly environment: Environment;
  sealings(): Sealings;
  paperSealings(): PaperSealings;
}

/** A refusal that protects, by the user or by the authority. Refusals of the adversary itself do not count. */
export interface AttackRefusal {
  readonly by: 'user' | 'authority';
  readonly reason: RefusalReason;
}

export interface AttackResult {
  /**
   * Computed from the adversary's knowledge and the inputs the referee knows: `x of U2`, `x of Ua - x of Ub`. For an
   * attack on the service, the part that no longer works: `no buffer closes`.
   */
  readonly findings: readonly string[];
  readonly held: Held;
  /** In the order they occurred, each once. */
  readonly refusals: readonly AttackRefusal[];
  /** H1: the expected sum, and the actual one. */
  readonly wrongSum?: { readonly expected: readonly number[]; readonly got: readonly number[] };
}

export interface Attack {
  readonly id: string;
  readonly schedule: string;
  /** `paper` mode, or `sealed` mode without one of its rules; `mutant` names the rule. */
  readonly mutant?: string;
  /**
   * The rule that keeps the service running, for an attack that tries to stop the service and that no check refuses. These attacks use
   * several authorities, with slot keys.
   */
  readonly stoppedBy?: string;
  broken(setting: AttackSetting): AttackResult;
  sealed(setting: AttackSetting): AttackResult;
}
