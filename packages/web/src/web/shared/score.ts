/** The score of a task's versions for pages: the accuracy of classes, R2 of numbers. */
import { fromHex } from '@basa/masking';
import { SCORE_OF_LOSS, type Scores, type shownScore } from '@basa/protocol/http';
import { decodePolicy, type Loss } from '@basa/protocol/policy';
import { percent } from './format.ts';
import type { TaskFacts } from './server-facts.ts';

const LABELS: Readonly<Record<keyof Scores, string>> = { accuracy: 'accuracy', r2: 'R2' };

export function lossOf({ policy }: Pick<TaskFacts, 'policy'>): Loss {
  return decodePolicy(fromHex(policy) ?? new Uint8Array()).training.loss;
}

/** The axis of a plot. */
export interface ScoreAxis {
  readonly y: string;
  readonly range?: readonly [number, number];
  formatY(value: number): string;
}

/** R2 may lie far below 0 at first. */
export function scoreAxis(task: Pick<TaskFacts, 'policy'>): ScoreAxis {
  const name = SCORE_OF_LOSS[lossOf(task)];
  if (name !== 'accuracy') return { y: LABELS[name], formatY: (value) => value.toFixed(2) };
  return { y: LABELS[name], range: [0, 1], formatY: (value) => `${Math.round(100 * value)} %` };
}

/** `87.5 %`, or `0.875` for an R2. A dash if there is no score. */
export function scoreValue(score: ReturnType<typeof shownScore>): string {
  if (score === undefined) return '–';
  return score.name === 'accuracy' ? percent(score.value) : score.value.toFixed(3);
}

/** `an accuracy of 87.5 %`, or `an R2 of 0.875`. */
export function scoreWords(score: NonNullable<ReturnType<typeof shownScore>>): string {
  return `an ${LABELS[score.name]} of ${scoreValue(score)}`;
}
