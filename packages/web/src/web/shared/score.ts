/** The score of a task's versions, as pages name and draw it: the accuracy of classes, R2 of numbers. */
import { fromHex } from '@basa/masking';
import { decodePolicy, type Loss, SCORE_OF_LOSS, type Scores, shownScore } from '@basa/protocol';
import { percent } from './format.ts';
import type { TaskFacts } from './server-facts.ts';

const LABELS: Readonly<Record<keyof Scores, string>> = { accuracy: 'accuracy', r2: 'R2' };

export function lossOf({ policy }: Pick<TaskFacts, 'policy'>): Loss {
  return decodePolicy(fromHex(policy) ?? new Uint8Array()).training.loss;
}

/** The axis of a plot. R2 may lie far below 0 at first. */
export function scoreAxis(task: Pick<TaskFacts, 'policy'>): {
  readonly y: string;
  readonly range?: readonly [number, number];
  formatY(value: number): string;
} {
  const name = SCORE_OF_LOSS[lossOf(task)];
  if (name !== 'accuracy') return { y: LABELS[name], formatY: (value) => value.toFixed(2) };
  return { y: LABELS[name], range: [0, 1], formatY: (value) => `${Math.round(100 * value)} %` };
}

/** `87.5 %`, or `R2 0.875`; a dash if the version was not evaluated. */
export function scoreWords(scores: Scores): string {
  const score = shownScore(scores);
  if (score === undefined) return '–';
  return score.name === 'accuracy' ? percent(score.value) : `${LABELS[score.name]} ${score.value.toFixed(3)}`;
}
