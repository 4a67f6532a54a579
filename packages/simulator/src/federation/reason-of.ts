/** The reason of a refusal, for code that expects one. */
import { isRefused } from '@basa/protocol';

/** Returns the reason of a refusal; throws if the answer is not a refusal. */
export function reasonOf(answer: object): string {
  if (isRefused(answer)) return answer.reason;
  throw new Error('not refused');
}
