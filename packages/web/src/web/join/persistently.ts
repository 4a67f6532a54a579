/** Work that a device takes up again after temporary failures. */
import { AnswerError, type Outside, ProblemError, UnreachableError } from '@basa/client/web';
import type { FromDevice } from './device-messages.ts';
import type { Gate } from './gate.ts';

const RETRY_MS = 1000;

export interface Patient {
  readonly gate: Gate;
  readonly sleep: Outside['sleep'];
  tell(news: FromDevice): void;
}

/** Tries again while there is no answer, a service is overloaded or the gate is closed; undefined once the device leaves. */
export async function persistently<Result>(
  { gate, tell, sleep }: Patient,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  let waitMs = 0;
  for (;;) {
    await gate.passed();
    if (gate.isLeaving) return undefined;
    const { signal } = gate;
    try {
      await sleep(waitMs, signal);
      return await work();
    } catch (error) {
      // The gate may be open again by now. Only whether it was closed in between counts.
      if (signal.aborted) tell({ kind: 'paused' });
      else {
        waitMs = waitOf(error);
        tell({ kind: 'waiting', why: whyOf(error) });
      }
    }
  }
}

/** Returns the wait after a failure that may pass; throws any other. */
function waitOf(error: unknown): number {
  if (error instanceof UnreachableError || error instanceof AnswerError) return RETRY_MS;
  if (error instanceof ProblemError && error.isPassing) return Math.max(RETRY_MS, error.retryAfterMs ?? 0);
  throw error;
}

/** An error's advice to retry is left out, because that happens here. */
function whyOf(error: unknown): string {
  return error instanceof Error ? (error.message.split(';')[0] ?? '') : '';
}
