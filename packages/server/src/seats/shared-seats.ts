/** Seats of one task that several nodes give: in the database, so that the seats of a buffer are given once. */
import { equalBytes } from '@basa/masking';
import {
  type BasaEvent,
  type Certificate,
  type Ctx,
  certificateProblem,
  type EnrolledFor,
  millis,
  type SeatRequest,
  type SecureBuffer,
  type ServerPorts,
  userIdOf,
} from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import { AuthorityUnreachable } from '../authority/authority-link.ts';
import type { Store } from '../store/store.ts';
import type { SeatAnswer, SeatGiver } from './seats.ts';

export interface SharedSeatsOptions {
  readonly enrolledFor: EnrolledFor;
  readonly store: Store;
  readonly ports: ServerPorts;
  readonly clock: () => number;
  /** How long before its expiry a buffer counts as one that has waited long. */
  readonly lateMs: number;
  /** How long a seat lives. */
  tuned(): { readonly seatMs: number };
  /** Has the buffer of this nonce and version drawn, and stores it. Returns whether anybody can still sit down in it. */
  drawBuffer(nonce: Uint8Array, version: number): Promise<boolean>;
  bufferOf(ctx: Ctx): Promise<SecureBuffer | undefined>;
  /** The task was paused or ended at another node: throws what to answer. */
  refuse(): Promise<never>;
  onEvent(event: BasaEvent): void;
}

/** After this many new buffers in a row that are of no use, a device is sent away. */
const MAX_FRUITLESS = 3;
/** In a crowd others may be quicker; after this many rounds something else is wrong. */
const MAX_ROUNDS = 50;

export class SharedSeats implements SeatGiver {
  readonly #options: SharedSeatsOptions;
  /** By version. */
  readonly #drawing = new Map<number, Promise<boolean>>();

  constructor(options: SharedSeatsOptions) {
    this.#options = options;
  }

  /** The store says so when a seat is asked for: the task may have been resumed at another node. */
  checkRunning(): void {}

  /** What a buffer has become is read when a seat is asked for. */
  track(): void {}

  async take({ certificate, version }: SeatRequest): Promise<SeatAnswer> {
    const { ports, enrolledFor, clock, onEvent, refuse } = this.#options;
    // The deposit is held to the database's clock; days do not need it.
    const problem = certificateProblem(ports, enrolledFor, certificate, millis(clock()));
    if (problem !== undefined) {
      onEvent({ kind: 'refused', by: 'server', step: 'seat', reason: problem.reason });
      return problem;
    }
    for (let rounds = 0, fruitless = 0; rounds < MAX_ROUNDS && fruitless < MAX_FRUITLESS; rounds++) {
      const seat = await this.#ask(certificate, { version });
      if (seat.kind === 'not-running') return refuse();
      if (seat.kind === 'must-wait') return seat;
      if (seat.kind === 'seated') {
        onEvent({ kind: 'seat-given', ctx: seat.ctx, seats: seat.seats, deposits: seat.deposits });
        const buffer = await this.#options.bufferOf(seat.ctx);
        if (buffer === undefined) throw new Error('a seat in a buffer that is not stored');
        return buffer;
      }
      if (!(await this.#draw(seat.nonce, version))) fruitless++;
    }
    throw new AuthorityUnreachable('the buffers it draws are over at once; compare the clocks of both services');
  }

  /** A device without a seat may have a free one: seats do not survive a crash of the database. */
  async admits(certificate: Certificate, ctx: Ctx): Promise<boolean> {
    const seat = await this.#ask(certificate, { only: ctx });
    if (seat.kind === 'seated') return true;
    const buffer = await this.#options.bufferOf(ctx);
    if (buffer === undefined || buffer.status !== 'filling') return true;
    // Full, or entered before: the buffer itself says which, and repeats what it answered.
    const isFull = buffer.slots.length >= buffer.descriptor.bufferSize;
    return isFull || buffer.slots.some(({ deviceKey }) => equalBytes(deviceKey, certificate.deviceKey));
  }

  #ask({ deviceKey }: Certificate, where: { readonly version: number } | { readonly only: Ctx }) {
    const { store, enrolledFor, tuned, ports, lateMs } = this.#options;
    const wish = {
      lateMs,
      forMs: Math.round(tuned().seatMs),
      freshNonce: nodeRandomBytes(16),
      ...where,
    };
    return store.takeSeat(enrolledFor.task, userIdOf(ports.suite, deviceKey), wish);
  }

  /** Devices that find every seat taken meanwhile wait for the same new buffer. */
  #draw(nonce: Uint8Array, version: number): Promise<boolean> {
    const drawing =
      this.#drawing.get(version) ??
      this.#options.drawBuffer(nonce, version).finally(() => this.#drawing.delete(version));
    this.#drawing.set(version, drawing);
    return drawing;
  }
}
