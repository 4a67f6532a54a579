/** Bounds the bytes of long requests that are read or worked on at the same time, for each task: memory does not grow with their number. */
import { toHex } from '@basa/masking';
import type { TaskId } from '@basa/protocol';

export class BytesUnderWay {
  readonly #bytes = new Map<string, number>();

  /** Undefined if there is no room now: one request always has room. Else call what is returned when the request is over. */
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
