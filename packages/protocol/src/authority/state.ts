/** The state of an authority, as its records give it: tasks, devices, and the position of its log. */
import { type Suite, toHex } from '@basa/masking';
import type { TaskId, UserId } from '../wire/brands.ts';
import { userIdOf } from '../wire/certificate.ts';
import { taskIdOf } from '../wire/policy.ts';
import { admitsByOthers, type EnrolledDevice, withCertificate } from './device.ts';
import { FIRST_BRANCH, type LogPosition } from './head.ts';
import { DraftLog, type PastLog } from './past-log.ts';
import { type AuthorityRecord, EMPTY_LOG_HASH, nextLogHash } from './records.ts';
import type { AuthorityTask } from './task.ts';

type DeviceMap = Pick<Map<string, EnrolledDevice>, 'get' | 'set'>;

export class AuthorityState {
  readonly past: PastLog;
  readonly #suite: Suite;
  readonly #tasks = new Map<string, AuthorityTask>();
  /** There may be millions. */
  #devices: DeviceMap = new Map<string, EnrolledDevice>();
  /** In the order of the log. */
  readonly #revoked: EnrolledDevice[] = [];
  #sequence = 0;
  #hash: Uint8Array = EMPTY_LOG_HASH;
  readonly #branches: Uint8Array[] = [FIRST_BRANCH];
  /** Branches of lost lives of the log that were met: each causes everything open to be given up once. */
  readonly #retired: Uint8Array[] = [];

  constructor(suite: Suite, past: PastLog) {
    this.#suite = suite;
    this.past = past;
  }

  /** Returns a copy: records applied to it change nothing here. */
  draft(): AuthorityState {
    const draft = new AuthorityState(this.#suite, new DraftLog(this.past, this.#sequence));
    const [known, changed] = [this.#devices, new Map<string, EnrolledDevice>()];
    draft.#devices = {
      get: (name) => changed.get(name) ?? known.get(name),
      set: (name, device) => changed.set(name, device),
    };
    for (const [name, task] of this.#tasks) draft.#tasks.set(name, task);
    for (const device of this.#revoked) draft.#revoked.push(device);
    draft.#branches.splice(0, draft.#branches.length, ...this.#branches);
    draft.#retired.push(...this.#retired);
    draft.#sequence = this.#sequence;
    draft.#hash = this.#hash;
    return draft;
  }

  /** The number of records. */
  get sequence(): number {
    return this.#sequence;
  }

  /** In the order of the log. */
  get revoked(): readonly EnrolledDevice[] {
    return this.#revoked;
  }

  /** The current life of the log. */
  get branch(): Uint8Array {
    return this.#branches.at(-1) ?? FIRST_BRANCH;
  }

  get position(): LogPosition {
    return {
      sequence: this.#sequence,
      branches: this.#branches,
      retired: this.#retired,
      revocations: this.#revoked.length,
      hashAt: (sequence) => (sequence === this.#sequence ? this.#hash : this.past.hashAt(sequence)),
    };
  }

  get tasks(): readonly AuthorityTask[] {
    return [...this.#tasks.values()];
  }

  task(id: TaskId): AuthorityTask | undefined {
    return this.#tasks.get(toHex(id));
  }

  device(user: UserId): EnrolledDevice | undefined {
    return this.#devices.get(toHex(user));
  }

  /** The record is durable, and true from now on. */
  apply(entry: AuthorityRecord): void {
    const suite = this.#suite;
    this.#sequence++;
    this.#hash = nextLogHash(suite, this.#hash, entry);
    this.past.add?.(entry, this.#hash);
    switch (entry.kind) {
      case 'task-created': {
        const id = taskIdOf(suite, entry.policy);
        this.#tasks.set(toHex(id), { id, policy: entry.policy });
        return;
      }
      case 'device-enrolled': {
        const { certificate } = entry;
        const name = toHex(userIdOf(suite, certificate.deviceKey));
        // One name object of the task for all of its devices, because there may be millions.
        const task = this.#tasks.get(toHex(certificate.task))?.id ?? certificate.task;
        this.#devices.set(name, withCertificate(suite, this.#devices.get(name), { ...certificate, task }));
        return;
      }
      case 'device-revoked': {
        const tasks = this.tasks.filter(admitsByOthers).map(({ id }) => id);
        const device = this.#devices.get(toHex(entry.user)) ?? { user: entry.user, tasks };
        const revoked = { ...device, revoked: true, revokedAt: entry.at };
        this.#devices.set(toHex(entry.user), revoked);
        this.#revoked.push(revoked);
        return;
      }
      case 'branch-begun':
        this.#branches.push(entry.branch);
        this.#retired.push(...entry.met.map(({ branch }) => branch));
        return;
    }
  }
}
