/** The time for which devices were refused, as the balancer saw it: from the first refused request of an upload to the accepted one. */
import { HEADER } from '@basa/protocol';
import type { Exchange } from '@basa/testkit/processes/balancer.ts';

const TROUBLE = 500;

export class RefusedUploads {
  readonly #since = new Map<string, number>();
  #longestMs = 0;
  #count = 0;

  note({ method, path, headers, invokedAt, returnedAt, answer }: Exchange): void {
    if (method !== 'PUT' || headers[HEADER.uploadOffset] === undefined) return;
    const name = `${String(headers[HEADER.device])} ${path}`;
    const since = this.#since.get(name);
    if (answer === undefined || answer.status >= TROUBLE) {
      this.#count++;
      if (since === undefined) this.#since.set(name, invokedAt);
    } else if (since !== undefined) {
      this.#longestMs = Math.max(this.#longestMs, returnedAt - since);
      this.#since.delete(name);
    }
  }

  /** Requests that a node did not take, and the longest time until the same upload was answered by another. */
  get report(): { readonly refusedUploads: number; readonly longestRefusalMs: number } {
    return { refusedUploads: this.#count, longestRefusalMs: this.#longestMs };
  }
}
