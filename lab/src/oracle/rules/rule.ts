/**
 * A rule of the one-shot mode, with the attack that it stops, and the edits of the source that remove it. The attack must fail against the
 * code as it is, and succeed against the code without the rule. If several checks enforce one rule, the edits leave out all of them, and
 * any one of them is enough to stop the attack.
 */

import { DecodeError } from '@basa/masking';
import { THREE_OF_FOUR } from '@basa/testkit/world/world.ts';
import { Adversary, type AdversaryOptions } from '../adversary.ts';
import type { AttackReport } from '../trace.ts';

export interface Edit {
  /** Below packages. */
  readonly file: string;
  /** Occurs exactly once in the file, so that the list stays in step with the code. */
  readonly find: string;
  readonly replace: string;
}

export interface Rule {
  readonly id: string;
  readonly attack: string;
  /** The code without the rule, in words. */
  readonly without: string;
  /** The values that the attack then learns, or the promises that it breaks. */
  readonly learned: readonly string[];
  readonly world?: AdversaryOptions;
  play(adversary: Adversary): Promise<unknown>;
  readonly edits: readonly Edit[];
}

/** The check that an upload gets no second vote: several rules need it beside their own. */
export const UPLOAD_USED: Edit = {
  file: 'protocol/src/one-shot/authority.ts',
  find: "if (elsewhere.length > 0) return refused('upload-used', { uploads: elsewhere });",
  replace: '',
};

/** Messages that break the rules of their encoding cannot be written, as long as those are checked. */
export function ignoreRefusedEncoding(error: unknown): undefined {
  if (!(error instanceof DecodeError) && !(error instanceof RangeError)) throw error;
}

/** Plays the attack against the code that is loaded. */
export async function playRule({ world, play }: Pick<Rule, 'world' | 'play'>): Promise<AttackReport> {
  const adversary = await Adversary.open(world);
  try {
    await play(adversary);
    return adversary.trace.judge();
  } finally {
    await adversary.world.close();
  }
}

/** A private task whose only authority adds the noise: a device may be in this many batches. */
export function withAuthorityNoise(participations: number): AdversaryOptions {
  const privacy = { noiseMultiplier: 1, colluders: 0, budget: { delta: 1e-5, participations } };
  return { oneShot: { authorityNoise: true }, policy: { minimum: 3, dimension: 64, level: 64, privacy } };
}

/** Four authorities, three of which are needed, the first on the server's side. */
export const COUNCIL: AdversaryOptions = { shape: THREE_OF_FOUR, colluding: [0] };
