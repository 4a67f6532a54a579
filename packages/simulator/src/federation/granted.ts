/** Refusals as errors, for code that expects success. */
import { isRefused, type Refused } from '@basa/protocol';

/** Returns the answer, or throws an error that names the refusal. */
export function granted<Answer extends object>(answer: Answer | Refused): Answer {
  if (isRefused(answer)) throw new Error(`refused: ${answer.reason}`);
  return answer;
}

/** Returns the reason of a refusal; throws if the answer is not a refusal. */
export function reasonOf(answer: object): string {
  if (isRefused(answer)) return answer.reason;
  throw new Error('not refused');
}
