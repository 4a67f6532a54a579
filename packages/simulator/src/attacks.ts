/** The attacks on the paper's protocol, and how an adversary solves for what it can compute. */

export type { Attack, AttackRefusal, AttackResult, AttackSetting } from './attacks/attack.ts';
export { ATTACK_WORDS, findingText, resultText } from './attacks/attack-words.ts';
export { ATTACKS } from './attacks/attacks.ts';
export {
  type Combination,
  describeCombination,
  isSpannedBy,
  learnedCombinations,
  type MaskedRow,
} from './attacks/solve.ts';
