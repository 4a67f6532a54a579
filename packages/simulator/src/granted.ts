/** Refusals as errors, for code that expects a yes. */
import type { Refused } from '@basa/protocol';

/** The answer, or an error that names the refusal. */
export function granted<Answer extends object>(answer: Answer | Refused): Answer {
  if ('kind' in answer && answer.kind === 'refused') throw new Error(`refused: ${(answer as Refused).reason}`);
  return answer as Answer;
}

/** The reason of a refusal; an error where there is none. */
export function reasonOf(answer: object): string {
  if ('kind' in answer && answer.kind === 'refused') return (answer as Refused).reason;
  throw new Error('not refused');
}
