/** Refusals as errors for code that expects a yes. */
import { isRefused, type Refused } from '@basa/protocol';

/** The answer, or an error that names the refusal. */
export function granted<Answer extends object>(answer: Answer | Refused): Answer {
  if (isRefused(answer)) throw new Error(`refused: ${answer.reason}`);
  return answer;
}

/** The reason of a refusal; an error where there is none. */
export function reasonOf(answer: object): string {
  if (isRefused(answer)) return answer.reason;
  throw new Error('not refused');
}
