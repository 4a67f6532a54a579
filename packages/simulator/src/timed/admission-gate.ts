/** The server's admission in virtual time: the same decisions by the same code, with users as numbers. */
import { type RandomStream, randomStream } from '@basa/learning';
import { Admission, type AdmissionOptions, type AdmissionView, type BufferStage, keptMs } from '@basa/protocol';
import { WaitingList } from './waiting-list.ts';

interface Entered {
  readonly name: string;
  readonly users: string[];
  /** The users whose upload is awaited. */
  readonly awaited: Set<string>;
  readonly version: number | undefined;
  stage: BufferStage;
}

export class AdmissionGate {
  readonly #admission: Admission;
  /** The version that each user under way trains on. */
  readonly #underWay = new Map<string, number>();
  readonly #isMixed: boolean;
  readonly #waiting = new WaitingList();
  readonly #buffers = new Map<object, Entered>();
  readonly #jitter: RandomStream;
  #names = 0;

  constructor(options: AdmissionOptions, seed: number) {
    this.#admission = new Admission(options);
    this.#isMixed = options.oneVersion === undefined;
    this.#jitter = randomStream(seed, 'jitter');
  }

  /** The number of users that train or are about to. */
  get underWay(): number {
    return this.#underWay.size;
  }

  /** The number of users that train on this version. */
  comingOn(version: number): number {
    return [...this.#underWay.values()].filter((on) => on === version).length;
  }

  /** True if too few others are left for an update on this version, which this user has. */
  isVersionOver(user: number, version: number): boolean {
    const own = this.#underWay.get(String(user)) === version ? 1 : 0;
    return this.#admission.versionOver(version, this.comingOn(version) - own) !== undefined;
  }

  /** Returns undefined if the user has a place to train on this version; otherwise the seconds after which it asks again. */
  ask(user: number, time: number, version: number): number | undefined {
    const [name, now] = [String(user), 1000 * time];
    const line = { ahead: this.#waiting.aheadOf(name, now), waiting: this.#waiting.size };
    const judged = this.#admission.judge(name, { underWay: this.#underWay.size, ...line });
    if (judged !== 'place') {
      const retryAfterMs = this.#admission.retryAfterMs(line, now, this.#jitter.unit());
      if (judged !== 'holds') this.#waiting.stay(name, now + keptMs(retryAfterMs), now);
      return retryAfterMs / 1000;
    }
    this.#underWay.set(name, version);
    this.#waiting.leave(name);
    this.#admission.placed(this.#underWay.size);
    return undefined;
  }

  /** The user left before it was in a buffer. */
  left(user: number, time: number): void {
    if (this.#underWay.delete(String(user))) this.#admission.freed(1, 1000 * time);
  }

  /** The update of this user is in this buffer. */
  entered(user: number, buffer: object, stage: BufferStage, time: number, version?: number): void {
    this.#underWay.delete(String(user));
    const known = this.#buffers.get(buffer) ?? {
      name: String(this.#names++),
      users: [],
      awaited: new Set(),
      version: this.#isMixed ? undefined : version,
      stage,
    };
    this.#buffers.set(buffer, known);
    known.users.push(String(user));
    known.awaited.add(String(user));
    this.became(buffer, stage, time);
  }

  /** Its upload has arrived, or will never come. */
  uploaded(user: number, buffer: object, time: number): void {
    const known = this.#buffers.get(buffer);
    known?.awaited.delete(String(user));
    if (known !== undefined) this.became(buffer, known.stage, time);
  }

  /** The buffer has reached this stage. */
  became(buffer: object, stage: BufferStage, time: number): void {
    const known = this.#buffers.get(buffer);
    if (known === undefined) return;
    known.stage = stage;
    const { name, users, awaited, version } = known;
    const fill = { users, awaited: [...awaited], stage, live: users.length, ...(version !== undefined && { version }) };
    this.#admission.track(name, fill, 1000 * time);
    if (stage === 'over') this.#buffers.delete(buffer);
  }

  versionMade(version: number, meanAge: number): void {
    this.#admission.versionMade(version, meanAge);
  }

  view(time: number): AdmissionView {
    return this.#admission.view({ underWay: this.#underWay.size, waiting: this.#waiting.sizeAt(1000 * time) });
  }
}
