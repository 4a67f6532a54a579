/** The log's view of tasks and certificates, for routes that look something up, and the buffers that need their key. */
import { toHex } from '@basa/masking';
import {
  type AuthorityRecord,
  type Certificate,
  type Ctx,
  ctxOf,
  type Descriptor,
  epochKeyOf,
  inTerm,
  type Millis,
  ownPart,
  type SignedDescriptor,
  type TaskId,
  type TaskPolicy,
  type Term,
  taskIdOf,
  type UserId,
  userIdOf,
  withPolicy,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';

export interface KnownTask {
  readonly task: TaskId;
  /** In its first term: the policy whose hash is the name of the task. */
  readonly first: TaskPolicy;
  /** In the current term. */
  readonly policy: TaskPolicy;
  /** The term that begins next. */
  readonly next?: Term;
  /** The newest certificate of each user, by its hexadecimal name. */
  readonly certificates: Map<string, Certificate>;
}

/** A buffer that is open, or closed while its sum has not become a model. */
interface Unfinished {
  readonly closeBy: Millis;
  /** Or may be, by the vote of this authority. */
  readonly isClosed: boolean;
}

export class Directory {
  readonly #publicKey: Uint8Array;
  readonly #tasks = new Map<string, KnownTask>();
  readonly #revoked = new Set<string>();
  /** By the public key of their epoch, and their ctx. */
  readonly #unfinished = new Map<string, Map<string, Unfinished>>();

  /** The public key of this authority. */
  constructor(publicKey: Uint8Array) {
    this.#publicKey = publicKey;
  }

  /** Adds a durable record. */
  add(entry: AuthorityRecord): void {
    switch (entry.kind) {
      case 'task-created': {
        const task = taskIdOf(nodeSuite, entry.policy);
        this.#tasks.set(toHex(task), { task, first: entry.policy, policy: entry.policy, certificates: new Map() });
        return;
      }
      case 'term-adopted': {
        const known = this.task(entry.term.task);
        if (known !== undefined) this.#tasks.set(toHex(known.task), { ...known, next: entry.term });
        return;
      }
      case 'term-begun': {
        const before = this.task(entry.task);
        if (before?.next === undefined) return;
        const { next, ...known } = before;
        this.#tasks.set(toHex(entry.task), { ...known, policy: inTerm(nodeSuite, known.policy, next) });
        return;
      }
      case 'device-enrolled': {
        const user = userIdOf(nodeSuite, entry.certificate.deviceKey);
        this.task(entry.certificate.task)?.certificates.set(toHex(user), entry.certificate);
        return;
      }
      case 'device-revoked':
        this.#revoked.add(toHex(entry.user));
        return;
      case 'buffer-drawn': {
        const descriptor = this.described(entry.descriptor);
        const own = ownPart(this.#publicKey, descriptor);
        if (own === undefined) return;
        const { closeBy } = descriptor;
        const epoch = toHex(epochKeyOf(descriptor, own));
        const buffers = this.#unfinished.get(epoch) ?? new Map<string, Unfinished>();
        this.#unfinished.set(epoch, buffers.set(toHex(ctxOf(nodeSuite, descriptor)), { closeBy, isClosed: false }));
        return;
      }
      case 'buffer-voted': // the others may have closed it by this vote without telling this authority
      case 'buffer-closed': {
        const name = toHex(entry.ctx);
        for (const buffers of this.#unfinished.values()) {
          const buffer = buffers.get(name);
          if (buffer !== undefined) buffers.set(name, { ...buffer, isClosed: true });
        }
        return;
      }
      case 'buffer-aborted':
      case 'buffer-unknown':
        this.#finish(entry.ctx);
        return;
      case 'model-appended':
        for (const ctx of [...entry.entry.sums, ...entry.entry.spoilt]) this.#finish(ctx);
        return;
      default:
    }
  }

  task(task: Uint8Array): KnownTask | undefined {
    return this.#tasks.get(toHex(task));
  }

  tasks(): readonly KnownTask[] {
    return [...this.#tasks.values()];
  }

  isRevoked(user: UserId): boolean {
    return this.#revoked.has(toHex(user));
  }

  /** Devices that hold a certificate of the task and are not revoked. */
  countDevices({ certificates }: KnownTask): number {
    return [...certificates.keys()].filter((user) => !this.#revoked.has(user)).length;
  }

  /** True if a buffer may still ask for keys of this epoch. */
  needs(epochKey: Uint8Array): boolean {
    return (this.#unfinished.get(toHex(epochKey))?.size ?? 0) > 0;
  }

  /** Forgets closed buffers with at most this closeBy: their sums did not become a model in time. */
  forgetClosed(closeBy: number): void {
    for (const [epoch, buffers] of this.#unfinished) {
      for (const [ctx, buffer] of buffers) if (buffer.isClosed && buffer.closeBy <= closeBy) buffers.delete(ctx);
      if (buffers.size === 0) this.#unfinished.delete(epoch);
    }
  }

  /** With the policy of its task: an authority draws buffers of the tasks that it has, and of no other. */
  described(signed: SignedDescriptor): Descriptor {
    const known = this.task(signed.task);
    if (known === undefined) throw new Error('a buffer was drawn of a task that is not in the log');
    return withPolicy(known.policy, signed);
  }

  /** The number of buffers in memory. */
  get unfinishedBuffers(): number {
    return [...this.#unfinished.values()].reduce((sum, { size }) => sum + size, 0);
  }

  #finish(ctx: Ctx): void {
    for (const buffers of this.#unfinished.values()) buffers.delete(toHex(ctx));
  }
}
