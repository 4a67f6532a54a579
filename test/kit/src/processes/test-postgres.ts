/** A PostgreSQL for one test file. It survives the kill of a process but not of the machine, because it does not wait for the disk. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalPostgres, startLocalPostgres } from './local-postgres.ts';

export interface TestPostgres extends LocalPostgres {
  /** Stops it, and removes its folder. */
  remove(): Promise<void>;
}

export async function testPostgres(): Promise<TestPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'basa-postgres-'));
  const postgres = await startLocalPostgres({ folder, settings: { fsync: 'off' } });
  return {
    ...postgres,
    async remove() {
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
