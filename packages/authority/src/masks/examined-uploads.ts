/**
 * Uploads that were called good or used since the start, by their names, so that a vote carries only names. Within each
 * task the oldest make room for new ones: no server of another task can push them out.
 */
import { toHex } from '@basa/masking';
import { type Ctx, type ExaminedUpload, shotHeaderCodec, type TaskId } from '@basa/protocol';

type Kept = Map<string, ExaminedUpload>;

export class ExaminedUploads {
  readonly #kept = new Map<string, Kept>();

  /** Remembers at most `most` of the task. */
  add(upload: ExaminedUpload, most: number): void {
    // A copy, because the decoded header would keep the memory of its whole request alive.
    const header = shotHeaderCodec.decode(shotHeaderCodec.encode(upload.header));
    const name = toHex(upload.name);
    const kept = this.#of(header.task);
    kept.delete(name);
    kept.set(name, { ...upload, header });
    for (const oldest of kept.keys()) {
      if (kept.size <= most) break;
      kept.delete(oldest);
    }
  }

  get(task: TaskId, name: Ctx): ExaminedUpload | undefined {
    return this.#kept.get(toHex(task))?.get(toHex(name));
  }

  /** Forgets uploads that name no live epoch here any more, with their guard words. */
  keepOnly(isLive: (statement: Uint8Array) => boolean): void {
    for (const kept of this.#kept.values())
      for (const [name, { header }] of kept)
        if (!header.epochs.some(({ statement }) => isLive(statement))) kept.delete(name);
  }

  #of(task: TaskId): Kept {
    const kept = this.#kept.get(toHex(task)) ?? new Map();
    this.#kept.set(toHex(task), kept);
    return kept;
  }
}
