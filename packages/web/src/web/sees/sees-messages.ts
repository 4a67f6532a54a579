/** The messages between the page and the worker that plays server and colluders. */

export type ToSees =
  | { readonly kind: 'run'; readonly pictures: readonly Float32Array[]; readonly side: number }
  | { readonly kind: 'attacks' };

interface Check {
  readonly by: string;
  readonly reason: string;
  readonly sentence: string;
}

export interface AttackNews {
  readonly id: string;
  readonly schedule: string;
  /** The attempt of the same attackers in the one-shot mode. */
  readonly inOneShot: string;
  /** Played in this tab. */
  readonly onPaper: { readonly findings: readonly string[]; readonly isSumWrong: boolean };
  /** The checks that stop it in the one-shot mode. */
  readonly checks: readonly Check[];
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
