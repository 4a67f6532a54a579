/**
 * A rule of the one-shot mode, with the attack that it stops, and the edits of the source that remove it. The attack must fail against the
 * code as it is, and succeed against the code without the rule. If several checks enforce one rule, the edits leave out all of them, and
 * any one of them is enough to stop the attack.
 */

import { THREE_OF_FOUR } from '@basa/testkit/world/world.ts';
import type { AttackReport } from '../../attacks/judgement.ts';
import { Adversary, type AdversaryOptions } from '../adversary.ts';

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
  /** What is there without the rule. */
  readonly without: string;
  /** The values that the attack then learns, or the promises that it breaks. */
  readonly learned: readonly string[];
  readonly world?: AdversaryOptions;
  play(adversary: Adversary): Promise<unknown>;
  readonly edits: readonly Edit[];
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

/** Four authorities, three of which are needed, the first on the server's side. */
export const COUNCIL: AdversaryOptions = { shape: THREE_OF_FOUR, colluding: [0] };
