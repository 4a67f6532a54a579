/** When a device works and when it rests, and its work again after temporary failures. */
import { AnswerError, type Outside, ProblemError, UnreachableError } from '@basa/client/web';
import type { FromDevice } from './device-messages.ts';

/**
 * Decides whether the device may work now. Closing the gate aborts the running work. Its state is stored, and the work continues when the
 * gate opens.
 */
export class Gate {
  #closed: { readonly opened: Promise<void>; readonly open: () => void } | undefined;
  #working = new AbortController();
  readonly #leaving = new AbortController();

  /** True if the device must leave permanently. */
  get isLeaving(): boolean {
    return this.#leaving.signal.aborted;
  }

  /** Aborts when the gate closes, and permanently when the device leaves. */
  get signal(): AbortSignal {
    return AbortSignal.any([this.#working.signal, this.#leaving.signal]);
  }

  close(): void {
    if (this.#closed !== undefined) return;
    let open = (): void => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    this.#closed = { opened, open };
    this.#working.abort(new Error('paused'));
  }

  open(): void {
    const closed = this.#closed;
    if (closed === undefined) return;
    this.#closed = undefined;
    this.#working = new AbortController();
    closed.open();
  }

  leave(): void {
    this.#leaving.abort(new Error('left'));
    this.open();
  }

  /** Resolves once the gate is open. */
  async passed(): Promise<void> {
    await this.#closed?.opened;
  }
}

const RETRY_MS = 1000;

interface Patient {
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
