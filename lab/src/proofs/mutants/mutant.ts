/** What a mutant is: edits of the source that take a rule away, and the attack that then succeeds. */
import type { OracleEngine } from '../world/symbolic-federation.ts';

export interface Edit {
  /** Below packages/protocol/src, or from the root where it starts with packages/. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

export interface Mutant {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** The attack of the oracle that catches it. */
  readonly caughtBy: string;
  /** With which the attack is played; attributes by default. */
  readonly engine?: OracleEngine;
}

/** A user takes whatever key the answer holds. */
export const keyHashNotCompared: Edit = {
  file: 'user/key.ts',
  find: 'return key !== undefined && equalBytes(suite.sha256(key), issued.keyHash) ? key : undefined;',
  replace: 'return key;',
};
