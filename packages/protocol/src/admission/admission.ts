/**
 * Admission before training: decides which devices may fetch a model and train, so that updates are not old before they are made.
 *
 *     asked --place--> under way --upload--> in a batch --its version, or the batch's end--> free
 *        \--later         \--lapses, discarded--> free
 *
 * A place is flow control, not security: a device without a place is served if there is room. This class only decides. The lists of devices
 * with a place and of waiting devices are kept elsewhere, in memory or in a database that several nodes share.
 */
import { type Refused, refused } from '../wire/refusals.ts';
import { ComeBack, type Crowd } from './come-back.ts';
import { noteUsedPlaces, noteVersionAge, type PlaceOptions, type PlaceState, startPlaces } from './place-controller.ts';

export interface AdmissionOptions extends PlaceOptions {
  /** When this many buffers wait to be opened, no places are given. */
  readonly maxWaitingBuffers: number;
  /** With one version per buffer. */
  readonly oneVersion?: {
    /** Kmin. */
    readonly minimum: number;
    /**
     * True if a place is held until its update is in a version, which suits devices that are about equally fast;
     * otherwise until its upload. If some devices take much longer than others, all places of a version would wait for
     * the slowest. With mixed versions they are always held.
     */
    readonly isHeld: boolean;
  };
}

export const DEFAULT_WAITING_BUFFERS = 2;

/**
 * `holds`: its last update is in no version yet, or is on the newest one. `behind`: the free places are for others.
 * `backlog`: buffers wait to be opened.
 */
export type Admitted = 'place' | 'holds' | 'full' | 'behind' | 'backlog';

/**
 * `empty`: the buffer has no device yet. `begun`: it has some devices, and others can enter. `full`: it waits for uploads. `waiting`: its
 * sum is not open yet. `opened`: its sum waits for other sums of the same version. `over`: it has ended, or can never have enough updates,
 * so no device waits for it.
 */
export type BufferStage = 'empty' | 'begun' | 'full' | 'waiting' | 'opened' | 'over';

export interface BufferFill {
  readonly users: readonly string[];
  /** The users among them whose upload is awaited. */
  readonly awaited: readonly string[];
  readonly stage: BufferStage;
  /** Slots that have their update, or may still get it. */
  readonly live: number;
  /** With one version per buffer. */
  readonly version?: number;
}

/** The data that a page, a metric or a command shows. */
export interface AdmissionView {
  readonly places: number;
  readonly used: number;
  readonly underWay: number;
  /** Devices that wait for a place. */
  readonly waiting: number;
  readonly waitingBuffers: number;
  readonly targetAge: number;
  /** The number of devices that gave their place back since the newest version, as far as this node of the server knows. */
  readonly returned?: number;
}

export class Admission {
  readonly #options: AdmissionOptions;
  #state: PlaceState;
  /** Buffers that have not ended, by ctx. */
  readonly #buffers = new Map<string, BufferFill>();
  #newest = 0;
  readonly #comeBack = new ComeBack();

  constructor(options: AdmissionOptions) {
    this.#options = options;
    this.#state = startPlaces(options);
  }

  /** C. */
  get places(): number {
    return Math.floor(this.#state.places);
  }

  /** A free place is for the devices that have waited longest, so that devices that ask most often gain nothing. */
  judge(user: string, { underWay, ahead }: Pick<Crowd, 'underWay' | 'ahead'>): Admitted {
    if (this.#holds(user)) return 'holds';
    if (this.#hasBacklog) return 'backlog';
    const free = this.places - underWay - this.#held;
    if (free <= 0) return 'full';
    return ahead < free ? 'place' : 'behind';
  }

  /**
   * True if a device without a place can join a buffer that already has other devices, because this makes no update older. A buffer that
   * contains the device does not count, because a single device would start one buffer after the other. No buffer counts while others wait
   * to be opened: if devices arrive faster than sums are opened, there is always a buffer with some devices.
   */
  hasRoomFor(user: string, version: number): boolean {
    return !this.#hasBacklog && this.#begun(version).some(({ users }) => !users.includes(user));
  }

  /**
   * Tells whether an update on this version can still be in a sum. No device begins on an older version any more: with
   * the devices in its buffer and those on the way, `others` besides this one, it must reach the minimum.
   */
  versionOver(version: number, others: number): Refused | undefined {
    const { oneVersion } = this.#options;
    if (oneVersion === undefined || version >= this.#newest) return undefined;
    const live = Math.max(0, ...this.#begun(version).map((buffer) => buffer.live));
    if (live + others + 1 >= oneVersion.minimum) return undefined;
    return refused('version-over', { detail: `version ${version}; version ${this.#newest} is the newest` });
  }

  /** A device has got its place; `underWay` counts it. */
  placed(underWay: number): void {
    this.#state = noteUsedPlaces(this.#state, underWay + this.#held);
  }

  /** The milliseconds after which the device should ask again. */
  retryAfterMs(crowd: Pick<Crowd, 'ahead' | 'waiting'>, now: number, jitter: number): number {
    return this.#comeBack.afterMs(crowd, now, jitter);
  }

  /** Places of devices under way became free. */
  freed(places: number, now: number): void {
    this.#comeBack.freed(places, now);
  }

  /** Takes note of a buffer's new state. Its end frees the places of all its slots, dropped ones too. */
  track(name: string, fill: BufferFill, now: number): void {
    const before = this.#holdersOf(this.#buffers.get(name)).length;
    if (fill.stage === 'over') this.#buffers.delete(name);
    else this.#buffers.set(name, fill);
    this.freed(Math.max(0, before - this.#holdersOf(this.#buffers.get(name)).length), now);
  }

  /** The newest version, made of updates of this mean age; of none, if it repeats the model. */
  versionMade(version: number, meanAge: number | undefined): void {
    this.#newest = version;
    if (meanAge !== undefined) this.#state = noteVersionAge(this.#options, this.#state, meanAge);
  }

  view({ underWay, waiting }: Pick<Crowd, 'underWay' | 'waiting'>): AdmissionView {
    return {
      places: this.places,
      used: underWay + this.#held,
      underWay,
      waiting,
      waitingBuffers: this.#waitingBuffers,
      targetAge: this.#options.targetAge,
    };
  }

  get #hasBacklog(): boolean {
    return this.#waitingBuffers >= this.#options.maxWaitingBuffers;
  }

  get #waitingBuffers(): number {
    return [...this.#buffers.values()].filter(({ stage }) => stage === 'waiting').length;
  }

  /** Buffers for updates on this version that some device is in and others can still enter. */
  #begun(version: number): readonly BufferFill[] {
    return [...this.#buffers.values()].filter(
      (buffer) => buffer.stage === 'begun' && (buffer.version ?? version) === version,
    );
  }

  get #held(): number {
    let held = 0;
    for (const buffer of this.#buffers.values()) held += this.#holdersOf(buffer).length;
    return held;
  }

  /** The users of the buffer that hold a place. */
  #holdersOf(buffer: BufferFill | undefined): readonly string[] {
    const isHeld = this.#options.oneVersion?.isHeld ?? true;
    return (isHeld ? buffer?.users : buffer?.awaited) ?? [];
  }

  /** True if the device cannot contribute another update, because it has one under way or gave one on the newest version. */
  #holds(user: string): boolean {
    return [...this.#buffers.values()].some(
      (buffer) =>
        this.#holdersOf(buffer).includes(user) || (buffer.version === this.#newest && buffer.users.includes(user)),
    );
  }
}
