/** What the parties of a test federation share: crashes, and refusals as errors. */
import { toHex } from '@basa/masking';
import type { Ctx, Refused, Slot } from '@basa/protocol';

export type PartyName = 'user' | 'server' | 'authority';

/** The process died right after it made something durable; its answer never left. */
export class Crash extends Error {
  readonly party: PartyName;

  constructor(party: PartyName) {
    super(`${party} crashed`);
    this.party = party;
  }
}

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

export const slotName = (ctx: Ctx, slot: Slot): string => `${toHex(ctx)}:${slot}`;
