/** Bounds the bytes of long requests that are read or processed at the same time, for each task, so that memory does not grow with their number. */
import { toHex } from '@basa/masking';
import type { TaskId } from '@basa/protocol';

export class BytesUnderWay {
  readonly #bytes = new Map<string, number>();

  /**
   * Returns undefined if there is no room now; a single request always has room. Otherwise call the returned function
   * when the request is over.
   */
  take(task: TaskId, bytes: number, most: number): (() => void) | undefined {
    const name = toHex(task);
    const before = this.#bytes.get(name) ?? 0;
    if (before > 0 && before + bytes > most) return undefined;
    this.#bytes.set(name, before + bytes);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const left = (this.#bytes.get(name) ?? 0) - bytes;
      if (left > 0) this.#bytes.set(name, left);
      else this.#bytes.delete(name);
    };
  }
}
