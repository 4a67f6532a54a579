/** Reads the database of an authority while it may be running, for `basa doctor`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { taskIdOf } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { readDatabase, readOnlySqlite } from '@basa/service';
import { AUTHORITY_DATABASE } from '../store/store.ts';
import { AuthorityTables } from '../store/tables.ts';
import type { AuthorityOptions } from './create-authority.ts';

export interface TaskFleet {
  readonly name: string;
  readonly bufferSize: number;
  readonly minimum: number;
  /** Enrolled and not revoked. */
  readonly devices: number;
}

/** Undefined if there is no database yet. Throws a `StartError` if it cannot be used. */
export async function examineAuthority({ dataFolder }: AuthorityOptions): Promise<readonly TaskFleet[] | undefined> {
  if (!existsSync(join(dataFolder, 'basa.sqlite'))) return undefined;
  const database = readOnlySqlite(readDatabase(dataFolder, AUTHORITY_DATABASE));
  try {
    return await database.transaction(async (session) => {
      const tables = new AuthorityTables(session);
      const fleets: TaskFleet[] = [];
      for (const policy of await tables.policies()) {
        const { bufferSize, minimum } = policy;
        const name = Buffer.from(policy.name).toString('utf8');
        fleets.push({ name, bufferSize, minimum, devices: await tables.countDevices(taskIdOf(nodeSuite, policy)) });
      }
      return fleets;
    });
  } finally {
    await database.close();
  }
}
