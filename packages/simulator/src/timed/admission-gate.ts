/** The server's admission in virtual time: the same decisions by the same function, with users as numbers. */
import { type RandomStream, randomStream } from '@basa/learning';
import { Admission } from '@basa/protocol/one-shot';

export interface GateOptions {
  readonly places: number;
  /** The least number of updates on a version in a batch: Kmin, or `versionMinimum`; without it, buffers mix versions freely. */
  readonly minimum?: number;
}

/** `begun`: others can enter. `full`: nobody can. `waiting`: its sum is not open yet. `over`: it has ended. */
export type BufferStage = 'begun' | 'full' | 'waiting' | 'over';

interface Entered {
  readonly version: number | undefined;
  users: number;
  stage: BufferStage;
}

export class AdmissionGate {
  readonly #options: GateOptions;
  /** The version that each user under way trains on. */
  readonly #underWay = new Map<number, number>();
  /** Users that gave an update, by the buffer that it waits in. */
  readonly #given = new Map<number, object>();
  readonly #waiting = new Set<number>();
  readonly #buffers = new Map<object, Entered>();
  readonly #jitter: RandomStream;
  #newest = 0;

  constructor(options: GateOptions, seed: number) {
    this.#options = options;
    this.#jitter = randomStream(seed, 'jitter');
  }

  /** The number of users that train or are about to. */
  get underWay(): number {
    return this.#underWay.size;
  }

  /** The number of places that are taken. */
  get used(): number {
    return this.#underWay.size + this.#given.size;
  }

  /** The number of buffers that wait to be opened. */
  get waitingSums(): number {
    return [...this.#buffers.values()].filter(({ stage }) => stage === 'waiting').length;
  }

  /** The number of users that train on this version. */
  comingOn(version: number): number {
    return [...this.#underWay.values()].filter((on) => on === version).length;
  }

  /** True if too few others are left for an update on this version, which this user has. */
  isVersionOver(user: number, version: number): boolean {
    const { minimum } = this.#options;
    if (minimum === undefined || version >= this.#newest) return false;
    const begun = [...this.#buffers.values()].filter((one) => one.stage === 'begun' && one.version === version);
    const others = this.comingOn(version) - (this.#underWay.get(user) === version ? 1 : 0);
    return begun.reduce((sum, { users }) => sum + users, 0) + others + 1 < minimum;
  }

  /** Returns undefined if the user has a place to train on this version; otherwise the seconds after which it asks again. */
  ask(user: number, version: number): number | undefined {
    const { places } = this.#options;
    const hasGiven = this.#given.has(user);
    const judged = Admission.admit({
      hasGiven,
      waitingSums: this.waitingSums,
      fresh: 0,
      least: 0,
      used: this.used,
      places,
    });
    if (judged !== 'place') {
      if (judged !== 'given') this.#waiting.add(user);
      return Admission.retryAfterMs(this.#waiting.size, this.#jitter.unit()) / 1000;
    }
    this.#underWay.set(user, version);
    this.#waiting.delete(user);
    return undefined;
  }

  /** The user left before it was in a buffer. */
  left(user: number): void {
    this.#underWay.delete(user);
  }

  /** The update of this user is in this buffer. */
  entered(user: number, buffer: object, stage: BufferStage, version?: number): void {
    this.#underWay.delete(user);
    this.#given.set(user, buffer);
    const known = this.#buffers.get(buffer) ?? { version, users: 0, stage };
    known.users++;
    known.stage = stage;
    this.#buffers.set(buffer, known);
  }

  /** The buffer has reached this stage. */
  became(buffer: object, stage: BufferStage): void {
    const known = this.#buffers.get(buffer);
    if (known === undefined) return;
    known.stage = stage;
    if (stage !== 'over') return;
    this.#buffers.delete(buffer);
    for (const [user, of] of this.#given) if (of === buffer) this.#given.delete(user);
  }

  versionMade(version: number): void {
    this.#newest = version;
  }
}
