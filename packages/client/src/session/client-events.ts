/** The events that a client emits while it works. They contain no secrets: no seeds, keys or updates. */
import type { Gathering } from '@basa/protocol/http';
import type { PrivacySpent } from '@basa/protocol/one-shot';
import type { RetryNotice } from '../services/retry.ts';
import type { Contribution, Rejection, Step } from './contribution.ts';

export interface ClientEvents {
  /** A step has started or made progress. For the upload, `sent` of `total` bytes are sent. */
  progress: { readonly step: Step; readonly sent?: number; readonly total?: number };
  /** The update is now a quantised input. It had this norm, and was shortened to the clip of the task if that is smaller. Only the device knows. */
  quantized: { readonly norm: number; readonly clip: number };
  /** Values of a report that are out of range, or not among the choices. Only the device knows. */
  outside: { readonly fields: readonly string[] };
  accepted: Contribution;
  rejected: Rejection;
  /** A request failed and is sent again after a wait. */
  retry: RetryNotice;
  /** In a private task: the spent budget, after an update was given. */
  privacy: PrivacySpent;
  /** `run` waits because too few devices take part: once, and again when the numbers change (`gatheringText`). */
  waiting: Gathering;
  model: { readonly version: number; readonly bytes: number };
  trained: { readonly version: number; readonly loss: number; readonly samples: number };
}

type Listener<Name extends keyof ClientEvents> = (event: ClientEvents[Name]) => void;

export class Emitter {
  readonly #listeners = new Map<keyof ClientEvents, Set<Listener<never>>>();

  /** Returns a function that removes the listener. */
  on<Name extends keyof ClientEvents>(name: Name, listener: Listener<Name>): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener as Listener<never>));
    return () => void listeners.delete(listener as Listener<never>);
  }

  emit<Name extends keyof ClientEvents>(name: Name, event: ClientEvents[Name]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        (listener as Listener<Name>)(event);
      } catch (error) {
        // A listener's error surfaces, but not in the middle of a session.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
