/** Seats of one task: places in open buffers, kept in memory only. The authority draws a buffer when all are taken. */
import { toHex } from '@basa/masking';
import {
  type BasaEvent,
  type Certificate,
  type Coordinator,
  type Ctx,
  createCoordinator,
  type DrawnBuffer,
  type EnrolledFor,
  freeSeats,
  giveSeat,
  holdsSeat,
  millis,
  type OpenBuffer,
  type Refused,
  type SeatRequest,
  type SecureBuffer,
  type ServerPorts,
  trackBuffer,
  userIdOf,
} from '@basa/protocol';
import { AuthorityUnreachable } from '../authority/authority-link.ts';
import { mayEnter, type TaskSuspicions } from '../store/suspicion-store.ts';

/** A suspect may have to wait for a buffer that it may sit down in. */
export type SeatAnswer = DrawnBuffer | Refused | { readonly kind: 'must-wait' };

export interface SeatGiver {
  /** Throws what to answer where the task is known not to run, before anything is asked of the store. */
  checkRunning(): void;
  /** Takes in what a buffer has become. */
  track(buffer: SecureBuffer): void;
  /** In a buffer for updates on the version that the request names. */
  take(request: SeatRequest): Promise<SeatAnswer>;
  /** Whether the device may deposit in the buffer: it holds a seat, or one is free. */
  admits(certificate: Certificate, ctx: Ctx): Promise<boolean>;
}

export interface SeatsOptions {
  readonly enrolledFor: EnrolledFor;
  readonly ports: ServerPorts;
  readonly clock: () => number;
  /** Whether devices that set out now train on this version. */
  isNewest(version: number): boolean;
  /** How long a seat lives, and how many should be free before they are asked for. */
  tuned(): { readonly seatMs: number; readonly seatsAhead: number };
  /** Has another buffer of this version drawn, and tells `track` of it. */
  drawBuffer(version: number): Promise<void>;
  bufferOf(ctx: Ctx): Promise<DrawnBuffer | undefined>;
  suspicions(): Promise<TaskSuspicions>;
  /** Kmin of the task. */
  readonly minimum: number;
  /** How long before its expiry a buffer counts as one that has waited long. */
  readonly lateMs: number;
  /** Throws what to answer where the task does not run. */
  checkRunning(): void;
  onEvent(event: BasaEvent): void;
}

/** After this many new buffers in a row without a seat, the clocks of server and authority differ too much. */
const MAX_FRUITLESS = 3;

export class Seats implements SeatGiver {
  readonly #options: SeatsOptions;
  #coordinator: Coordinator;
  /** By version. */
  readonly #drawing = new Map<number, Promise<void>>();
  #given = 0;

  constructor(options: SeatsOptions) {
    this.#options = options;
    this.#coordinator = createCoordinator(options.tuned().seatMs);
  }

  checkRunning(): void {
    this.#options.checkRunning();
  }

  track(buffer: SecureBuffer): void {
    this.#coordinator = trackBuffer(this.#coordinator, buffer);
  }

  async take(request: SeatRequest): Promise<SeatAnswer> {
    const { ports, enrolledFor, clock, bufferOf, onEvent, tuned } = this.#options;
    const { certificate, version } = request;
    const rule = await this.#rule(certificate); // before the first look: whoever waits for a draw sits down at once after it
    for (let fruitless = 0; fruitless <= MAX_FRUITLESS; ) {
      const before = { ...this.#coordinator, seatMs: tuned().seatMs };
      const { coordinator, answer, events } = giveSeat(ports, before, enrolledFor, request, millis(clock()), rule);
      this.#coordinator = coordinator;
      for (const event of events) onEvent(event);
      if (answer.kind === 'refused' || answer.kind === 'must-wait') return answer;
      if (answer.kind === 'seated') {
        this.#given++;
        this.#drawAhead(version);
        const buffer = await bufferOf(answer.ctx);
        if (buffer === undefined) throw new Error('a seat in a buffer that is not stored');
        return buffer;
      }
      // In a crowd others may have been quicker: that says nothing about clocks.
      let given: number;
      do {
        given = this.#given;
        await this.#draw(version);
      } while (this.#given !== given && freeSeats(this.#coordinator, version, millis(clock())) === 0);
      fruitless = this.#given === given ? fruitless + 1 : 0;
    }
    throw new AuthorityUnreachable('the buffers it draws are over at once; compare the clocks of both services');
  }

  /** Where the device may sit down by how much it and those there are suspected. */
  async #rule({ deviceKey }: Certificate): Promise<(buffer: OpenBuffer) => boolean> {
    const { ports, suspicions, minimum, lateMs, clock } = this.#options;
    const known = await suspicions();
    const user = toHex(userIdOf(ports.suite, deviceKey));
    return ({ ctx, expiry, seated, depositors }) =>
      mayEnter(known, user, {
        ctx,
        minimum,
        users: [...seated, ...depositors].filter((other) => other !== user),
        isLate: clock() >= expiry - lateMs,
      });
  }

  /** Devices that come while the authority is asked should find a seat. If it fails, the next device asks again. */
  #drawAhead(version: number): void {
    const { clock, tuned, isNewest } = this.#options;
    if (!isNewest(version)) return; // only devices that are on the way with an update on it can come
    if (freeSeats(this.#coordinator, version, millis(clock())) < tuned().seatsAhead)
      this.#draw(version).catch(() => undefined);
  }

  /** Devices that find every seat taken meanwhile wait for the same new buffer. */
  #draw(version: number): Promise<void> {
    const drawing =
      this.#drawing.get(version) ?? this.#options.drawBuffer(version).finally(() => this.#drawing.delete(version));
    this.#drawing.set(version, drawing);
    return drawing;
  }

  /** Seats do not survive a restart of the server, and nobody should lose a buffer by that. */
  async admits(certificate: Certificate, ctx: Ctx): Promise<boolean> {
    const { ports, clock } = this.#options;
    if (holdsSeat(ports, this.#coordinator, certificate, ctx, millis(clock()))) return true;
    const user = toHex(userIdOf(ports.suite, certificate.deviceKey));
    const open = this.#coordinator.buffers.find(({ name }) => name === toHex(ctx));
    if (open === undefined) return true; // full or over: the buffer itself says which, and repeats what it answered
    if (open.depositors.has(user)) return true;
    const rule = await this.#rule(certificate);
    return open.seated.size + open.depositors.size < open.bufferSize && rule(open);
  }
}
