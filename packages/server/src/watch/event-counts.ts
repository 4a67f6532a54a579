/** Counts the events of the core by task, after they are durable, in memory. */
import { toHex } from '@basa/masking';
import type { BasaEvent, Ctx, TaskId } from '@basa/protocol';
import type { Metrics } from '@basa/service';

interface Known {
  readonly task: string;
  readonly version: number;
}

const ENDS: ReadonlyMap<BasaEvent['kind'], string> = new Map([
  ['buffer-included', 'included'],
  ['buffer-quarantined', 'quarantined'],
  ['buffer-aborted', 'aborted'],
  ['buffer-unknown', 'unknown'],
]);
/** Events come shortly after their buffer was tracked: older ones may be forgotten. */
const MAX_BUFFERS = 10_000;

export class EventCounts {
  readonly #metrics: Metrics;
  readonly #labelOf: (task: string) => string;
  readonly #buffers = new Map<string, Known>();

  /** `labelOf` returns the label of a task by its name in hex. */
  constructor(metrics: Metrics, labelOf: (task: string) => string) {
    this.#metrics = metrics;
    this.#labelOf = labelOf;
  }

  track({ ctx, task, version }: { readonly ctx: Ctx; readonly task: TaskId; readonly version: number }): void {
    const name = toHex(ctx);
    if (this.#buffers.has(name)) return;
    this.#buffers.set(name, { task: toHex(task), version });
    const [oldest] = this.#buffers.keys();
    if (oldest !== undefined && this.#buffers.size > MAX_BUFFERS) this.#buffers.delete(oldest);
  }

  note(event: BasaEvent): void {
    const metrics = this.#metrics;
    const ended = ENDS.get(event.kind);
    if (ended !== undefined && 'ctx' in event && event.ctx !== undefined)
      metrics.count('basa_buffers_ended_total', { ...this.#task(event.ctx), outcome: ended });
    if (event.kind === 'upload-accepted') metrics.count('basa_uploads_accepted_total', this.#task(event.ctx));
    if (event.kind === 'buffer-frozen') metrics.count('basa_buffers_frozen_total', this.#task(event.ctx));
    if (event.kind === 'authority-fault') {
      const labels = { task: this.#labelOf(toHex(event.task)), authority: String(event.authority) };
      metrics.count('basa_authority_faults_total', { ...labels, subject: event.subject });
    }
    if (event.kind === 'buffer-included') this.#lagged(event.ctx, event.version);
  }

  #lagged(ctx: Ctx, version: number): void {
    const known = this.#buffers.get(toHex(ctx));
    if (known !== undefined)
      this.#metrics.observe('basa_buffer_lag_versions', this.#task(ctx), version - 1 - known.version);
  }

  #task(ctx: Ctx): { readonly task: string } {
    const known = this.#buffers.get(toHex(ctx));
    return { task: known === undefined ? 'unknown' : this.#labelOf(known.task) };
  }
}
