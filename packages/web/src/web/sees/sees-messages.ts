/** The messages between the page and the worker that plays server and colluders. */

export type ToSees =
  | { readonly kind: 'run'; readonly pictures: readonly Float32Array[]; readonly side: number }
  | { readonly kind: 'attacks' };

export interface Check {
  readonly by: string;
  readonly reason: string;
  readonly sentence: string;
}

export interface Played {
  readonly findings: readonly string[];
  readonly refusals: readonly Check[];
  readonly isSumWrong: boolean;
  /** The attackers read the sum of a whole group, as the server should. */
  readonly hasSum: boolean;
}

/** The protocol that the attack was made for: that of the paper, or the one-shot mode without one of its rules. */
export type AttackedMode = 'paper' | 'one-shot';

export interface AttackNews {
  readonly id: string;
  readonly on: AttackedMode;
  readonly schedule: string;
  /** What the same attackers try in the one-shot mode. */
  readonly inOneShot?: string;
  readonly mutant?: string;
  /** Against the paper's protocol, or against the one-shot mode without the rule that stops it. */
  readonly broken: Played;
  /** Against the unmodified one-shot mode. */
  readonly asItIs: Played;
}

export type FromSees =
  | { readonly kind: 'upload'; readonly device: number; readonly vector: Uint32Array }
  | {
      readonly kind: 'evenness';
      readonly byteCounts: Uint32Array;
      readonly pValue: number;
      readonly tests: readonly { readonly name: string; readonly pValue: number }[];
      readonly tried: number;
    }
  | { readonly kind: 'sum'; readonly mean: Float32Array; readonly isExact: boolean }
  | { readonly kind: 'attack'; readonly attack: AttackNews }
  | { readonly kind: 'attacks-over' }
  | { readonly kind: 'failed'; readonly message: string };
