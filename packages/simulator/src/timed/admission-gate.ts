/** The server's admission in virtual time: the same decisions by the same code, with users as numbers. */
import type { RandomStream } from '@basa/learning';
import { randomStream } from '@basa/learning';
import type { AdmissionOptions, AdmissionView, BufferStage } from '@basa/protocol';
import { Admission, turnMs, WaitingList } from '@basa/protocol';

interface Entered {
  readonly name: string;
  readonly users: string[];
}

export class AdmissionGate {
  readonly #admission: Admission;
  readonly #underWay = new Set<string>();
  readonly #waiting = new WaitingList();
  readonly #buffers = new Map<object, Entered>();
  readonly #jitter: RandomStream;
  #names = 0;

  constructor(options: AdmissionOptions, seed: number) {
    this.#admission = new Admission(options);
    this.#jitter = randomStream(seed, 'jitter');
  }

  /** How many train or are about to. */
  get underWay(): number {
    return this.#underWay.size;
  }

  /** Undefined if the user has a place; else the seconds after which it asks again. */
  ask(user: number, time: number): number | undefined {
    const [name, now] = [String(user), 1000 * time];
    const line = { ahead: this.#waiting.aheadOf(name, now), waiting: this.#waiting.size };
    const judged = this.#admission.judge(name, { underWay: this.#underWay.size, ...line });
    if (judged !== 'place') {
      const retryAfterMs = this.#admission.retryAfterMs(line, now, this.#jitter.unit());
      if (judged !== 'holds') this.#waiting.stay(name, now + turnMs(retryAfterMs), now);
      return retryAfterMs / 1000;
    }
    this.#underWay.add(name);
    this.#waiting.leave(name);
    this.#admission.placed(this.#underWay.size);
    return undefined;
  }

  /** The user came to nothing before it was in a buffer. */
  left(user: number, time: number): void {
    if (this.#underWay.delete(String(user))) this.#admission.freed(1, 1000 * time);
  }

  /** The user has a slot of this buffer. */
  entered(user: number, buffer: object, stage: BufferStage, time: number): void {
    this.#underWay.delete(String(user));
    const known = this.#buffers.get(buffer) ?? { name: String(this.#names++), users: [] };
    this.#buffers.set(buffer, known);
    known.users.push(String(user));
    this.#admission.track(known.name, { users: known.users, stage }, 1000 * time);
  }

  /** The buffer is that far. */
  became(buffer: object, stage: BufferStage, time: number): void {
    const known = this.#buffers.get(buffer);
    if (known === undefined) return;
    this.#admission.track(known.name, { users: known.users, stage }, 1000 * time);
    if (stage === 'over') this.#buffers.delete(buffer);
  }

  versionMade(meanAge: number): void {
    this.#admission.versionMade(meanAge);
  }

  view(time: number): AdmissionView {
    return this.#admission.view({ underWay: this.#underWay.size, waiting: this.#waiting.sizeAt(1000 * time) });
  }
}
