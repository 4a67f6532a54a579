/** The PostgreSQL of a crash run: killed and started again, and in the end with its clock ahead. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SERVER_DATABASE } from '@basa/server/internal/store/schema.ts';
import { openPostgres } from '@basa/service';
import { type LocalPostgres, startLocalPostgres } from '@basa/service/local-postgres';

const RESTARTS = 20;

export class CrashDatabase {
  readonly #folder: string;
  readonly #postgres: LocalPostgres;
  readonly url: string;

  private constructor(folder: string, postgres: LocalPostgres, url: string) {
    this.#folder = folder;
    this.#postgres = postgres;
    this.url = url;
  }

  static async open(): Promise<CrashDatabase> {
    const folder = mkdtempSync(join(tmpdir(), 'basa-crash-postgres-'));
    const postgres = await startLocalPostgres({ folder });
    return new CrashDatabase(folder, postgres, await postgres.database('basa'));
  }

  /** Dead for so long, then there again. */
  async crash(forMs: number): Promise<void> {
    await this.#postgres.stop('kill');
    await sleep(forMs);
    // The shared memory of the killed process may need a moment to go away.
    for (let tries = 1; ; tries++) {
      try {
        return await this.#postgres.restart();
      } catch (error) {
        if (tries === RESTARTS) throw error;
        await sleep(200);
      }
    }
  }

  /** Connections from now on see a clock that is ahead: a function of our own stands before the system's. */
  async goAhead(byMs: number): Promise<void> {
    const database = await openPostgres({
      url: this.url,
      ...SERVER_DATABASE,
    });
    const now = `SELECT pg_catalog.clock_timestamp() + interval '${byMs} milliseconds'`;
    await database.query('CREATE SCHEMA ahead');
    await database.query(
      `CREATE FUNCTION ahead.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$ ${now} $$`,
    );
    await database.query('ALTER DATABASE basa SET search_path = ahead, public, pg_catalog');
    await database.close();
  }

  async close(): Promise<void> {
    await this.#postgres.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
