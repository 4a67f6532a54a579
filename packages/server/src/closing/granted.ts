/** Unwraps the answers of this server's own steps. */
import type { Refused } from '@basa/protocol';

/** Our own steps never refuse. */
export function granted<Answer extends object>(answer: Answer | Refused): Answer {
  if ('kind' in answer && answer.kind === 'refused')
    throw new Error(`a step was refused: ${(answer as Refused).reason}`);
  return answer as Answer;
}
