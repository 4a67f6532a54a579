/** Seats of one task: places in open buffers, kept in memory only. The authority draws a buffer when all are taken. */
import { toHex } from '@basa/masking';
import type {
  BasaEvent,
  Certificate,
  Coordinator,
  Ctx,
  Descriptor,
  Refused,
  SecureBuffer,
  ServerPorts,
  TaskId,
} from '@basa/protocol';
import { createCoordinator, giveSeat, holdsSeat, millis, trackBuffer, userIdOf } from '@basa/protocol';
import { AuthorityUnreachable } from './authority-link.ts';

export interface SeatsOptions {
  readonly task: TaskId;
  readonly ports: ServerPorts;
  readonly seatMs: number;
  readonly clock: () => number;
  /** Has another buffer drawn, and tells `track` of it. */
  drawBuffer(): Promise<void>;
  descriptorOf(ctx: Ctx): Promise<Descriptor | undefined>;
  onEvent(event: BasaEvent): void;
}

/** A new buffer that has no seat, again and again: the clocks of server and authority differ too much. */
const MOST_DRAWN = 3;

export class Seats {
  readonly #options: SeatsOptions;
  #coordinator: Coordinator;
  #drawing: Promise<void> | undefined;

  constructor(options: SeatsOptions) {
    this.#options = options;
    this.#coordinator = createCoordinator(options.seatMs);
  }

  /** Takes in what a buffer has become. */
  track(buffer: SecureBuffer): void {
    this.#coordinator = trackBuffer(this.#coordinator, buffer);
  }

  async take(certificate: Certificate): Promise<Descriptor | Refused> {
    const { ports, task, clock, drawBuffer, descriptorOf, onEvent } = this.#options;
    for (let drawn = 0; drawn <= MOST_DRAWN; drawn++) {
      const { coordinator, answer, events } = giveSeat(ports, this.#coordinator, task, certificate, millis(clock()));
      this.#coordinator = coordinator;
      for (const event of events) onEvent(event);
      if (answer.kind === 'refused') return answer;
      if (answer.kind === 'seated') {
        const descriptor = await descriptorOf(answer.ctx);
        if (descriptor === undefined) throw new Error('a seat in a buffer that is not stored');
        return descriptor;
      }
      // Whoever finds every seat taken meanwhile waits for the same new buffer.
      this.#drawing ??= drawBuffer().finally(() => {
        this.#drawing = undefined;
      });
      await this.#drawing;
    }
    throw new AuthorityUnreachable('the buffers it draws are over at once; compare the clocks of both services');
  }

  /**
   * Whether the device may deposit in the buffer: it holds a seat, or one is free. Seats do not survive a restart of the
   * server, and nobody should lose a buffer by that.
   */
  admits(certificate: Certificate, ctx: Ctx): boolean {
    const { ports, clock } = this.#options;
    if (holdsSeat(ports, this.#coordinator, certificate, ctx, millis(clock()))) return true;
    const user = toHex(userIdOf(ports.suite, certificate.deviceKey));
    const open = this.#coordinator.buffers.find((buffer) => toHex(buffer.ctx) === toHex(ctx));
    if (open === undefined) return true; // full or over: the buffer itself says which, and repeats what it answered
    return open.depositors.has(user) || open.seated.size + open.depositors.size < open.bufferSize;
  }
}
