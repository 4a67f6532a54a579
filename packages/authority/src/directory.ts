/** What the log says about tasks, certificates, models and buffers, for the routes that look something up. */
import { toHex } from '@basa/masking';
import type { AuthorityRecord, Certificate, Ctx, ModelEntry, TaskId, TaskPolicy, UserId } from '@basa/protocol';
import { ctxOf, taskIdOf, userIdOf } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';

export interface KnownTask {
  readonly task: TaskId;
  readonly policy: TaskPolicy;
  /** The model log, by version. */
  readonly models: ModelEntry[];
  /** The newest certificate of each user, by its hexadecimal name. */
  readonly certificates: Map<string, Certificate>;
}

export class Directory {
  readonly #tasks = new Map<string, KnownTask>();
  readonly #revoked = new Set<string>();
  /** The buffers of each key epoch, by its public key. */
  readonly #buffers = new Map<string, Ctx[]>();

  /** Takes a durable record in. */
  add(entry: AuthorityRecord): void {
    switch (entry.kind) {
      case 'task-created': {
        const task = taskIdOf(nodeSuite, entry.policy);
        this.#tasks.set(toHex(task), { task, policy: entry.policy, models: [], certificates: new Map() });
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
      case 'model-appended':
        this.task(entry.entry.task)?.models.push(entry.entry);
        return;
      case 'buffer-drawn': {
        const epoch = toHex(entry.descriptor.sealingKey);
        const buffers = this.#buffers.get(epoch) ?? [];
        buffers.push(ctxOf(nodeSuite, entry.descriptor));
        this.#buffers.set(epoch, buffers);
        return;
      }
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

  buffersOf(sealingKey: Uint8Array): readonly Ctx[] {
    return this.#buffers.get(toHex(sealingKey)) ?? [];
  }
}
