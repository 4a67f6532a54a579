/** Offers that no buffer was drawn with yet, only in memory. The oldest is forgotten when there are too many. */
import { equalBytes, toHex } from '@basa/masking';
import type { Millis, TaskId } from '../wire/brands.ts';
import type { BufferPart } from '../wire/descriptor.ts';

/** More than a server draws ahead. */
const MAX_OFFERS = 4096;
const OFFER_MS = 10 * 60_000;

interface OpenOffer {
  readonly task: TaskId;
  readonly part: BufferPart;
  readonly until: number;
}

export class OpenOffers {
  readonly #open = new Map<string, OpenOffer>();

  add(task: TaskId, part: BufferPart, now: Millis): void {
    const [oldest] = this.#open.keys();
    if (this.#open.size >= MAX_OFFERS && oldest !== undefined) this.#open.delete(oldest);
    this.#open.set(toHex(part.offer), { task, part, until: now + OFFER_MS });
  }

  /** The one of these parts that is offered for the task. */
  find(task: TaskId, parts: readonly BufferPart[], now: Millis): BufferPart | undefined {
    for (const { offer } of parts) {
      const open = this.#open.get(toHex(offer));
      if (open !== undefined && open.until > now && equalBytes(open.task, task)) return open.part;
    }
    return undefined;
  }

  use(part: BufferPart | undefined): void {
    if (part !== undefined) this.#open.delete(toHex(part.offer));
  }
}
