/** Devices that ask for places, in virtual time: the server's own places, a quota as the routes hold it, and buffers of K. */
import type { UserId } from '@basa/protocol';
import { type PlaceAnswer, Places } from '../../src/seats/places.ts';
import { placesInMemory } from '../../src/seats/under-way.ts';
import { buffersOf, slotOf } from './store-samples.ts';

export interface FleetOptions {
  readonly places: number;
  readonly bufferSize: number;
  readonly uploadLeaseMs: number;
  /** In [0, 1). */
  random(): number;
}

/** As the server's defaults have it. */
const QUOTA = { max: 20, withinMs: 3_600_000 };
export const SECOND_MS = 1_000;

export class PlaceFleet {
  readonly #options: FleetOptions;
  readonly #places: Places;
  readonly #plan: { readonly at: number; readonly step: () => Promise<void> }[] = [];
  readonly #idleTimes = new Map<number, number[]>();
  readonly #users = new Map<string, number>();
  readonly #inBuffer: UserId[] = [];
  #buffers = 0;
  #now = 0;
  /** When each device deposited. */
  readonly deposits = new Map<number, number[]>();
  /** Devices that were refused for what they left unused. */
  readonly refused = new Set<number>();

  constructor(options: FleetOptions) {
    this.#options = options;
    const clock = () => this.#now;
    const noteIdle = async (user: UserId, at: number) => {
      const device = this.#users.get(String(user)) as number;
      this.#idleTimes.set(device, [...(this.#idleTimes.get(device) ?? []), at]);
    };
    const admission = { ...options, targetAge: 3, maxWaitingBuffers: 2 };
    this.#places = new Places({
      ...admission,
      underWay: placesInMemory(clock),
      clock,
      jitter: options.random,
      noteIdle,
    });
  }

  get now(): number {
    return this.#now;
  }

  /** Idle places of a device that count now. */
  unused(device: number): number {
    return (this.#idleTimes.get(device) ?? []).filter((at) => at >= this.#now - QUOTA.withinMs).length;
  }

  at(time: number, step: () => Promise<void>): void {
    const later = this.#plan.findIndex((planned) => planned.at > time);
    this.#plan.splice(later < 0 ? this.#plan.length : later, 0, { at: time, step });
  }

  in(afterMs: number, step: () => Promise<void>): void {
    this.at(this.#now + afterMs, step);
  }

  /** Undefined if it is refused. */
  ask(device: number): Promise<PlaceAnswer | undefined> {
    return this.#within(device, (user, unused) => this.#places.ask(user, unused));
  }

  async giveBack(device: number): Promise<void> {
    await this.#places.discard(this.#userOf(device), 'returned');
  }

  /** With an update: deposits, or is told when to come back. */
  async offer(device: number): Promise<{ readonly retryAfterMs: number } | undefined> {
    return this.#within(device, async (user, unused) => {
      const later = await this.#places.comesToSeat(user, unused);
      if (later === undefined) await this.#deposit(device, user);
      return later;
    });
  }

  /** Asks for a seat that it does not use. */
  sit(device: number): Promise<unknown> {
    return this.#within(device, (user, unused) => this.#places.comesToSeat(user, unused));
  }

  async runUntil(time: number): Promise<void> {
    for (let next = this.#plan[0]; next !== undefined && next.at <= time; next = this.#plan[0]) {
      this.#plan.shift();
      this.#now = next.at;
      await next.step();
    }
    this.#now = time;
  }

  async #within<Result>(device: number, work: (user: UserId, unused: number) => Promise<Result>) {
    const unused = this.unused(device);
    if (unused < QUOTA.max) return work(this.#userOf(device), unused);
    this.refused.add(device);
    return undefined;
  }

  async #deposit(device: number, user: UserId): Promise<void> {
    this.deposits.set(device, [...(this.deposits.get(device) ?? []), this.#now]);
    const { bufferSize, uploadLeaseMs } = this.#options;
    this.#inBuffer.push(user);
    const buffer = buffersOf(this.#buffers, { bufferSize, uploadLeaseMs, minimum: 2 });
    await this.#places.deposited(user, buffer.ctx);
    const slots = this.#inBuffer.map((one, n) => ({
      ...slotOf(buffer.ctx, n),
      user: one,
      status: 'accepted' as const,
    }));
    const isFull = slots.length === bufferSize;
    this.#places.track({ ...buffer, status: isFull ? 'included' : 'filling', slots, accepted: [], votes: [] });
    if (!isFull) return;
    this.#buffers++;
    this.#inBuffer.length = 0;
  }

  #userOf(device: number): UserId {
    const user = new Uint8Array(32).fill(device % 256).fill(Math.floor(device / 256), 16) as UserId;
    this.#users.set(String(user), device);
    return user;
  }
}

/** Trains for as long as `trainMs` says and offers its update until it is taken, again and again. */
export function honest(
  fleet: PlaceFleet,
  device: number,
  trainMs: () => number,
  startsAt: number,
  gaveUp = () => false,
) {
  const ask = async (): Promise<void> => {
    const answer = await fleet.ask(device);
    if (answer === undefined) fleet.in(60 * SECOND_MS, ask);
    else if (answer.kind === 'later') fleet.in(answer.retryAfterMs, ask);
    else fleet.in(trainMs(), gaveUp() ? ask : offer);
  };
  const offer = async (): Promise<void> => {
    const later = await fleet.offer(device);
    if (later === undefined) fleet.in(SECOND_MS, ask);
    else fleet.in(later.retryAfterMs, offer);
  };
  fleet.at(startsAt, ask);
}

/** Wants a place every half second, whatever it is told, and does nothing with it. */
export function idle(fleet: PlaceFleet, device: number, want: (device: number) => Promise<unknown>): void {
  const step = async (): Promise<void> => {
    await want(device);
    fleet.in(SECOND_MS / 2, step);
  };
  fleet.at(0, step);
}
