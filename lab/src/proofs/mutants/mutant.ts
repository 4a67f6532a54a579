/** The type of a mutant: edits of the source that remove a rule, and the attack that then succeeds. */
import type { OracleEngine } from '../world/symbolic-federation.ts';

export interface Edit {
  /** Below packages/protocol/src, or from the root if it starts with packages/. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

export interface Mutant {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** The attack of the oracle that catches it. */
  readonly caughtBy: string;
  /** The engine with which the attack is played; attributes by default. */
  readonly engine?: OracleEngine;
}

/** A user accepts any key that the answer holds. */
export const keyHashNotCompared: Edit = {
  file: 'user/key.ts',
  find: 'return key !== undefined && equalBytes(suite.sha256(key), issued.keyHash) ? key : undefined;',
  replace: 'return key;',
};
