/** The number of devices of each task, from only the log: for `basa doctor`. */
import { toHex } from '@basa/masking';
import { decodeAuthorityRecord, taskIdOf, userIdOf } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import type { AuthorityTables } from '../store/tables.ts';

export interface TaskFleet {
  readonly name: string;
  readonly bufferSize: number;
  readonly minimum: number;
  /** Enrolled and not revoked. */
  readonly devices: number;
}

const PAGE = 1000;

export async function fleetsOf(tables: AuthorityTables): Promise<readonly TaskFleet[]> {
  const tasks = new Map<string, Omit<TaskFleet, 'devices'> & { readonly users: Set<string> }>();
  for (let from = 1; ; from += PAGE) {
    const page = await tables.records(from, PAGE);
    for (const { bytes } of page) {
      const entry = decodeAuthorityRecord(bytes);
      if (entry.kind === 'task-created') {
        const { bufferSize, minimum } = entry.policy;
        const name = Buffer.from(entry.policy.name).toString('utf8');
        tasks.set(toHex(taskIdOf(nodeSuite, entry.policy)), { name, bufferSize, minimum, users: new Set() });
      } else if (entry.kind === 'device-enrolled') {
        const { task, deviceKey } = entry.certificate;
        tasks.get(toHex(task))?.users.add(toHex(userIdOf(nodeSuite, deviceKey)));
      } else if (entry.kind === 'device-revoked') {
        for (const { users } of tasks.values()) users.delete(toHex(entry.user));
      }
    }
    if (page.length < PAGE) break;
  }
  return [...tasks.values()].map(({ users, ...task }) => ({ ...task, devices: users.size }));
}
