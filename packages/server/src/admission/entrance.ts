/** Gives devices that come with an update a seat in a buffer of its version, if that version still accepts updates and there is room. */
import { equalBytes } from '@basa/masking';
import {
  type BasaEvent,
  type Certificate,
  type Ctx,
  certificateProblem,
  type DrawnBuffer,
  millis,
  type Refused,
  refused,
  type SeatRequest,
  type UserId,
  userIdOf,
} from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import { createQueue, fail } from '@basa/service';
import { AuthorityUnreachable } from '../authority/authority-http.ts';
import { type DrawOptions, drawBuffer } from './draw.ts';
import type { SuspicionWatch } from './suspicion-watch.ts';
import type { TaskAdmission } from './task-admission.ts';
import type { Seated } from './tickets.ts';

export interface EntranceOptions extends DrawOptions {
  readonly admission: TaskAdmission;
  readonly suspicion: SuspicionWatch;
  /** Throws the answer if the task does not run. */
  checkRunning(): Promise<void>;
  onEvent(event: BasaEvent): void;
}

/** A seat, or the request to draw another buffer. */
type Found = Extract<Seated, { readonly kind: 'seated' | 'needs-buffer' }>;

const MUST_WAIT = 'this device waits for a buffer without other suspected devices';
/** After this many useless new buffers in a row, a device is sent away. */
const MAX_FRUITLESS = 3;
/** In a burst other devices may be quicker; after this many rounds something else is wrong. */
const MAX_ROUNDS = 1_000;

export class Entrance {
  readonly #options: EntranceOptions;
  /** By version: devices that find every seat taken wait for the same new buffer. */
  readonly #drawing = new Map<number, ReturnType<typeof drawBuffer>>();
  readonly #queue = createQueue();

  constructor(options: EntranceOptions) {
    this.#options = options;
  }

  /** `unused`: the number of slots and places that the device recently left unused. */
  async take(asked: SeatRequest, unused: number): Promise<DrawnBuffer | Refused> {
    const { policy, models, ports, admission, tuning, clock, checkRunning } = this.#options;
    await checkRunning();
    tuning.arrived(clock());
    const user = userIdOf(ports.suite, asked.certificate.deviceKey);
    const isMixed = policy.versions === 'unsafeMixed';
    const over = isMixed ? undefined : await this.#versionOver(user, asked);
    if (over !== undefined) {
      await admission.discard(user, 'used');
      return over;
    }
    // The deposit is checked by the database's clock; days do not need it.
    const problem = certificateProblem(ports, this.#enrolledFor, asked.certificate, millis(clock()));
    if (problem === undefined) {
      const seat = await this.#sit(user, isMixed ? (models.newest?.version ?? 0) : asked.version, unused);
      tuning.seated(user, clock());
      return seat;
    }
    this.#options.onEvent({ kind: 'refused', by: 'server', step: 'seat', reason: problem.reason });
    await admission.discard(user, 'refused');
    return problem;
  }

  /** True if the device may deposit in the buffer: it holds a seat, or one is free. */
  async admits({ deviceKey }: Certificate, ctx: Ctx): Promise<boolean> {
    const { tickets, task, keeper, ports } = this.#options;
    if (await tickets.hasSeat(task, userIdOf(ports.suite, deviceKey), ctx, this.#seatWish)) return true;
    const buffer = await keeper.fresh(ctx);
    if (buffer === undefined || buffer.status !== 'filling') return true;
    // Full, or entered before: the buffer itself decides which, and repeats its answer.
    const isFull = buffer.slots.length >= buffer.descriptor.bufferSize;
    return isFull || buffer.slots.some((slot) => equalBytes(slot.deviceKey, deviceKey));
  }

  async #sit(user: UserId, version: number, unused: number): Promise<DrawnBuffer> {
    const { keeper, onEvent } = this.#options;
    const ask = (isAdmitted: boolean) => this.#ask(user, version, { unused, isAdmitted });
    const asked = await ask(false);
    const seat = asked.kind === 'seated' ? asked : await this.#waitForSeat(() => ask(true), version);
    onEvent({ kind: 'seat-given', ctx: seat.ctx, seats: seat.seats, deposits: seat.deposits });
    if (seat.nonce !== undefined) this.#draw(seat.nonce, version); // so that devices that come in the meantime find a seat
    const buffer = await keeper.find(seat.ctx);
    if (buffer === undefined) throw new Error('a seat in a buffer that is not stored');
    return buffer;
  }

  async #ask(
    user: UserId,
    version: number,
    device: { readonly unused: number; readonly isAdmitted: boolean },
  ): Promise<Found> {
    const { admission, suspicion, checkRunning } = this.#options;
    const rest = { seatsAhead: this.#seatsAhead(version), freshNonce: nodeRandomBytes(16) };
    const seat = await admission.enter(user, { ...device, ...this.#seatWish, ...rest, version });
    if (seat.kind === 'seated' || seat.kind === 'needs-buffer') return seat;
    if (seat.kind === 'later') fail('no-place', { detail: seat.why, retryAfterMs: seat.retryAfterMs });
    if (seat.kind === 'must-wait') {
      await admission.discard(user, 'refused'); // a waiting suspect must not hold a place
      fail('no-place', { detail: MUST_WAIT, retryAfterMs: await suspicion.askAgainMs() });
    }
    await checkRunning();
    throw new Error('a task that runs was said not to');
  }

  /**
   * Has buffers drawn until the device has a seat. Of the waiting devices, only as many ask again as there are seats:
   * the others wait for the next buffer.
   */
  async #waitForSeat(ask: () => Promise<Found>, version: number) {
    let why: AuthorityUnreachable | undefined;
    for (let rounds = 0, fruitless = 0; rounds < MAX_ROUNDS && fruitless < MAX_FRUITLESS; rounds++) {
      const { seat, drawing } = await this.#queue(async () => {
        const underWay = this.#drawing.get(version);
        if (underWay !== undefined) return { drawing: underWay };
        const found = await ask();
        return found.kind === 'seated' ? { seat: found } : { drawing: this.#draw(found.nonce, version) };
      });
      if (seat !== undefined) return seat;
      why = await drawing;
      fruitless = why === undefined ? 0 : fruitless + 1;
    }
    throw why ?? new AuthorityUnreachable('other devices take every seat that it draws');
  }

  #draw(nonce: Uint8Array, version: number): ReturnType<typeof drawBuffer> {
    const underWay = this.#drawing.get(version);
    if (underWay !== undefined) return underWay;
    const drawing = drawBuffer(this.#options, nonce, version).finally(() => this.#drawing.delete(version));
    drawing.catch(() => undefined); // if it fails, the next device asks again
    this.#drawing.set(version, drawing);
    return drawing;
  }

  /** Only devices that already train on an older version can join it. */
  #seatsAhead(version: number): number {
    const { models, tuning, clock } = this.#options;
    return version === (models.newest?.version ?? 0) ? tuning.at(clock()).seatsAhead : 0;
  }

  /** A buffer that trusted devices have not filled in half of its time accepts any device. */
  get #seatWish(): { readonly forMs: number; readonly lateMs: number; readonly bufferSize: number } {
    const { policy, tuning, clock } = this.#options;
    return { forMs: Math.round(tuning.at(clock()).seatMs), lateMs: policy.openMs / 2, bufferSize: policy.bufferSize };
  }

  get #enrolledFor() {
    const { policy, task } = this.#options;
    return { ...policy, task };
  }

  /** A version that is not ours, that is too old, or that has too few devices left accepts no more updates. */
  async #versionOver(user: UserId, { version, modelHash }: SeatRequest): Promise<Refused | undefined> {
    const { policy, models, admission } = this.#options;
    if (version > (models.newest?.version ?? -1)) await models.refresh(); // another node may have made it
    const newest = models.newest?.version ?? 0;
    const isOurs = version <= newest && (await models.has({ version, modelHash }));
    if (!isOurs || version < newest - policy.maxStaleness)
      return refused('version-over', { detail: `version ${version}; version ${newest} is the newest` });
    return admission.versionOver(user, version);
  }
}
