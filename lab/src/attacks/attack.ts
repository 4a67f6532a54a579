/** What an attack is: one schedule of the threat model, played against the mode it breaks and against `sealed`. */
import type { RefusalReason } from '@basa/protocol';
import type { Environment, PaperSealings, Sealings } from '@basa/simulator';
import type { Held } from './adversary.ts';

/** The outside of an attack. Every run asks for sealings of its own: real cryptography, or a simulation of it. */
export interface AttackSetting {
  readonly environment: Environment;
  sealings(): Sealings;
  paperSealings(): PaperSealings;
}

/** A no that protects: of the user or of the authority. What the adversary refuses itself does not count. */
export interface AttackRefusal {
  readonly by: 'user' | 'authority';
  readonly reason: RefusalReason;
}

export interface AttackResult {
  /**
   * Computed from what the adversary could calculate and the inputs the referee knows: `x of U2`, `x of Ua - x of Ub`. Of an attack on
   * the service, what does not go on any more: `no buffer closes`.
   */
  readonly findings: readonly string[];
  readonly held: Held;
  /** In the order they were met, each once. */
  readonly refusals: readonly AttackRefusal[];
  /** H1: what the sum should be, and what came out. */
  readonly wrongSum?: { readonly expected: readonly number[]; readonly got: readonly number[] };
}

export interface Attack {
  readonly id: string;
  readonly schedule: string;
  /** `paper` mode, or `sealed` mode without one of its rules; which, `mutant` says. */
  readonly mutant?: string;
  /** Only for an attack on the service, which nobody refuses: the rule by which it goes on. Its authorities are several, with slot keys. */
  readonly stoppedBy?: string;
  broken(setting: AttackSetting): AttackResult;
  sealed(setting: AttackSetting): AttackResult;
}
