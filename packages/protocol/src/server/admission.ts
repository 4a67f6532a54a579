/**
 * Admission before training: who may fetch a model and train, so that updates are not old before they are made.
 *
 *     asked --place--> under way --deposit--> in a buffer --the buffer's end--> free
 *        \--later         \--lapses, discarded--> free
 *
 * A place is flow control, not security: a device that comes without one is served if there is room. This class decides; who
 * is under way, and who waits, is kept beside it, in memory or in a database that several nodes share.
 */
import type { Crowd } from './come-back.ts';
import { ComeBack } from './come-back.ts';
import type { PlaceOptions, PlaceState } from './place-controller.ts';
import { noteUsedPlaces, noteVersionAge, startPlaces } from './place-controller.ts';

export interface AdmissionOptions extends PlaceOptions {
  /** At so many buffers that wait to be opened no places are given. */
  readonly maxWaitingBuffers: number;
}

export const DEFAULT_WAITING_BUFFERS = 2;

/** `holds`: its last update is in no version yet. `turn`: what is free is for others. `backlog`: buffers wait to be opened. */
export type Admitted = 'place' | 'holds' | 'full' | 'turn' | 'backlog';

/**
 * `empty`, `begun`: nobody, or somebody, is in it, and others can enter. `full`: slots are awaited. `waiting`: its sum is to
 * be opened. `over`: it has ended, or can never have enough updates, so that nobody waits for it.
 */
export type BufferStage = 'empty' | 'begun' | 'full' | 'waiting' | 'over';

export interface BufferFill {
  readonly users: readonly string[];
  readonly stage: BufferStage;
}

/** What a page, a metric or a command shows. */
export interface AdmissionView {
  readonly places: number;
  readonly used: number;
  readonly underWay: number;
  /** Devices that wait for a place. */
  readonly waiting: number;
  readonly waitingBuffers: number;
  readonly targetAge: number;
}

export class Admission {
  readonly #options: AdmissionOptions;
  #state: PlaceState;
  /** Users in the buffers that have not ended, by ctx. */
  readonly #slots = new Map<string, ReadonlySet<string>>();
  /** Buffers that somebody is in and others can still enter. */
  readonly #begun = new Set<string>();
  readonly #waitingBuffers = new Set<string>();
  readonly #comeBack = new ComeBack();

  constructor(options: AdmissionOptions) {
    this.#options = options;
    this.#state = startPlaces(options);
  }

  /** C. */
  get places(): number {
    return Math.floor(this.#state.places);
  }

  /** A free place is for the devices that have waited longest, so that those that ask most often gain nothing by it. */
  judge(user: string, { underWay, ahead }: Pick<Crowd, 'underWay' | 'ahead'>): Admitted {
    if (this.#holds(user)) return 'holds';
    if (this.#hasBacklog) return 'backlog';
    const free = this.places - underWay - this.#held;
    if (free <= 0) return 'full';
    return ahead < free ? 'place' : 'turn';
  }

  /**
   * Whether a device without a place finds a slot beside others: it makes nobody older. A buffer that it is in itself does not count: a
   * device that is alone would begin one after the other. Nor does any while buffers wait to be opened: where devices come faster than
   * sums are opened, there is always one that somebody has begun.
   */
  hasRoomFor(user: string): boolean {
    return !this.#hasBacklog && [...this.#begun].some((name) => this.#slots.get(name)?.has(user) === false);
  }

  /** A device has got its place; `underWay` counts it. */
  placed(underWay: number): void {
    this.#state = noteUsedPlaces(this.#state, underWay + this.#held);
  }

  /** After how many milliseconds the device should ask again. */
  retryAfterMs(crowd: Pick<Crowd, 'ahead' | 'waiting'>, now: number, jitter: number): number {
    return this.#comeBack.afterMs(crowd, now, jitter);
  }

  /** Places of devices under way came free. */
  freed(places: number, now: number): void {
    this.#comeBack.freed(places, now);
  }

  /** Takes in what a buffer has become. Its end frees the places of all its slots, dropped ones too. */
  track(name: string, { users, stage }: BufferFill, now: number): void {
    if (stage === 'over') {
      this.freed(this.#slots.get(name)?.size ?? 0, now);
      this.#slots.delete(name);
    } else this.#slots.set(name, new Set(users));
    note(this.#begun, name, stage === 'begun');
    note(this.#waitingBuffers, name, stage === 'waiting');
  }

  versionMade(meanAge: number): void {
    this.#state = noteVersionAge(this.#options, this.#state, meanAge);
  }

  view({ underWay, waiting }: Pick<Crowd, 'underWay' | 'waiting'>): AdmissionView {
    return {
      places: this.places,
      used: underWay + this.#held,
      underWay,
      waiting,
      waitingBuffers: this.#waitingBuffers.size,
      targetAge: this.#options.targetAge,
    };
  }

  get #hasBacklog(): boolean {
    return this.#waitingBuffers.size >= this.#options.maxWaitingBuffers;
  }

  get #held(): number {
    let held = 0;
    for (const users of this.#slots.values()) held += users.size;
    return held;
  }

  #holds(user: string): boolean {
    for (const users of this.#slots.values()) if (users.has(user)) return true;
    return false;
  }
}

function note(names: Set<string>, name: string, isIn: boolean): void {
  if (isIn) names.add(name);
  else names.delete(name);
}
