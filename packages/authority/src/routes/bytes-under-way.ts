/** Bounds the bytes of long requests and answers that are in memory at the same time, for each task, so that memory does not grow with their number. */
import { toHex } from '@basa/masking';
import type { TaskId } from '@basa/protocol';
import { type FastifyReply, type FastifyRequest, fail } from '@basa/service';

const COME_BACK_MS = 1000;

export interface HeldBytes {
  readonly task: TaskId;
  readonly bytes: number;
  /** The limit for all requests of the task together. */
  readonly most: number;
}

export class BytesUnderWay {
  readonly #bytes = new Map<string, number>();
  readonly #works = new WeakMap<FastifyRequest, Promise<unknown>>();

  /**
   * Counts bytes of a request, or of its answer, until the answer is sent or its receiver is gone, and the work on the request has ended.
   * Ends the request if there is no room now; a single request always has room.
   */
  hold(request: FastifyRequest, { raw }: FastifyReply, { task, bytes, most }: HeldBytes): void {
    if (raw.destroyed) fail('interrupted');
    const name = toHex(task);
    const before = this.#bytes.get(name) ?? 0;
    if (before > 0 && before + bytes > most)
      fail('overloaded', { detail: 'other long requests of this task are running', retryAfterMs: COME_BACK_MS });
    this.#add(name, bytes);
    raw.once('close', async () => {
      await Promise.allSettled([this.#works.get(request)]);
      this.#add(name, -bytes);
    });
  }

  /** Work that continues, and needs the memory of its request, when the sender of the request is gone. */
  during<Result>(request: FastifyRequest, work: Promise<Result>): Promise<Result> {
    this.#works.set(request, work);
    return work;
  }

  #add(name: string, bytes: number): void {
    const left = (this.#bytes.get(name) ?? 0) + bytes;
    if (left > 0) this.#bytes.set(name, left);
    else this.#bytes.delete(name);
  }
}
