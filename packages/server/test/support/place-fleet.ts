/** Devices that ask for places, in virtual time: the server's own places, a quota as the routes hold it, and batches of K. */
import type { UserId } from '@basa/protocol';
import { type PlaceAnswer, TaskAdmission } from '../../src/admission/task-admission.ts';
import type { Tickets } from '../../src/admission/tickets.ts';
import type { Store } from '../../src/store/store.ts';
import { task } from './store-samples.ts';
import { volatileTickets } from './volatile-tickets.ts';

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
  readonly #store: Store;
  readonly #tickets: Tickets;
  readonly #admission: TaskAdmission;
  readonly #plan: { readonly at: number; readonly step: () => Promise<void> }[] = [];
  readonly #waiting: UserId[] = [];
  #version = 0;
  #now = 0;
  /** The times at which each device gave an update. */
  readonly given = new Map<number, number[]>();
  /** Devices that were refused for what they left unused. */
  readonly refused = new Set<number>();

  static async open(options: FleetOptions): Promise<PlaceFleet> {
    let now = (): number => 0;
    const fleet = new PlaceFleet(options, await volatileTickets(task, () => now()));
    now = () => fleet.now;
    return fleet;
  }

  private constructor(options: FleetOptions, { store, tickets }: { readonly store: Store; readonly tickets: Tickets }) {
    this.#options = options;
    this.#store = store;
    this.#tickets = tickets;
    const oneVersion = { minimum: 2, isHeld: false };
    const admission = { ...options, targetAge: 3, maxWaitingBuffers: 2, oneVersion };
    this.#admission = new TaskAdmission({
      ...admission,
      task,
      tickets,
      clock: () => this.#now,
      jitter: options.random,
    });
  }

  get now(): number {
    return this.#now;
  }

  /** Idle places of a device that count now. */
  unused(device: number): Promise<number> {
    return this.#store.idleSince(this.#userOf(device), this.#now - QUOTA.withinMs);
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
    return this.#within(device, (user, unused) => this.#admission.ask(user, unused));
  }

  async giveBack(device: number): Promise<void> {
    await this.#admission.discard(this.#userOf(device), 'returned');
  }

  /** Gives an update. */
  async offer(device: number): Promise<void> {
    const user = this.#userOf(device);
    this.given.set(device, [...(this.given.get(device) ?? []), this.#now]);
    await this.#tickets.endPlace(task, user, 'used');
    this.#admission.gave(user);
    this.#waiting.push(user);
    if (this.#waiting.length === this.#options.bufferSize) {
      this.#waiting.length = 0;
      this.#admission.trackWaiting(this.#version++, []);
      this.#admission.meetVersion({ version: this.#version, meanAge: 0 });
    } else this.#admission.trackWaiting(this.#version, this.#waiting);
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
    const unused = await this.unused(device);
    if (unused < QUOTA.max) return work(this.#userOf(device), unused);
    this.refused.add(device);
    return undefined;
  }

  #userOf(device: number): UserId {
    return new Uint8Array(32).fill(device % 256).fill(Math.floor(device / 256), 16) as UserId;
  }
}

/** Trains for as long as `trainMs` says and gives its update, again and again. */
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
    await fleet.offer(device);
    fleet.in(SECOND_MS, ask);
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
