/** The log's view of tasks, certificates and revoked devices, for routes that look something up. */
import { toHex } from '@basa/masking';
import {
  type AuthorityRecord,
  type Certificate,
  type TaskId,
  type TaskPolicy,
  taskIdOf,
  type UserId,
  userIdOf,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';

export interface KnownTask {
  readonly task: TaskId;
  readonly policy: TaskPolicy;
  /** The newest certificate of each user, by its hexadecimal name. */
  readonly certificates: Map<string, Certificate>;
}

export class Directory {
  readonly #tasks = new Map<string, KnownTask>();
  readonly #revoked = new Set<string>();

  /** Adds a durable record. */
  add(entry: AuthorityRecord): void {
    switch (entry.kind) {
      case 'task-created': {
        const { policy } = entry;
        const task = taskIdOf(nodeSuite, policy);
        this.#tasks.set(toHex(task), { task, policy, certificates: new Map() });
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
}
