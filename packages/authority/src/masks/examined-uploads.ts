/** Uploads that this node found good since it started, by their names, so that a vote carries names alone. The oldest make room for new ones. */
import { toHex } from '@basa/masking';
import { type Ctx, type ExaminedUpload, shotHeaderCodec } from '@basa/protocol';

/** Three batches of the largest size fit. About 2 KB each. */
const MOST = 32_768;

export class ExaminedUploads {
  readonly #most: number;
  readonly #kept = new Map<string, ExaminedUpload>();

  constructor(most: number = MOST) {
    this.#most = most;
  }

  add(upload: ExaminedUpload): void {
    const name = toHex(upload.name);
    this.#kept.delete(name);
    // A copy: the header as it was decoded would hold the memory of its whole request.
    const header = shotHeaderCodec.decode(shotHeaderCodec.encode(upload.header));
    this.#kept.set(name, { ...upload, header });
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#most) break;
      this.#kept.delete(oldest);
    }
  }

  get(name: Ctx): ExaminedUpload | undefined {
    return this.#kept.get(toHex(name));
  }

  get size(): number {
    return this.#kept.size;
  }

  /** Forgets what names no epoch that is live here any more, with its guard words. */
  keepOnly(isLive: (statement: Uint8Array) => boolean): void {
    for (const [name, { header }] of this.#kept)
      if (!header.epochs.some(({ statement }) => isLive(statement))) this.#kept.delete(name);
  }
}
