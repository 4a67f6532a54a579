/** The tables of a PostgreSQL database: their owner, their format, and the migration that an operator runs to the newest format. */
import pg from 'pg';
import { StartError } from '../process/start-error.ts';
import { checkFormat, type DatabaseOptions } from './database.ts';

type Asked = Pick<pg.Client, 'query'> | Pick<pg.Pool, 'query'>;
/** The lock that makes migrations of one database wait for each other: "basa" in ASCII. */
const MIGRATION_LOCK = 0x62617361;
const UNDEFINED_TABLE = '42P01';

export interface Migrated {
  readonly from: number;
  readonly to: number;
}

/** Creates or changes the tables in one transaction; safe to call from several nodes at once. */
export async function migratePostgres(url: string, options: DatabaseOptions): Promise<Migrated> {
  const { application, migrations } = options;
  const client = new pg.Client({ connectionString: url, application_name: 'basa-migrate' });
  try {
    await client.connect();
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await client.query(
      'CREATE TABLE IF NOT EXISTS basa_format (application TEXT PRIMARY KEY, format INTEGER NOT NULL)',
    );
    const from = await readFormat(client, application);
    checkFormat('the database', from, options);
    for (const step of migrations.slice(from)) await client.query(step);
    await client.query(
      'INSERT INTO basa_format VALUES ($1, $2) ON CONFLICT (application) DO UPDATE SET format = excluded.format',
      [application, migrations.length],
    );
    await client.query('COMMIT');
    return { from, to: migrations.length };
  } catch (error) {
    throw databaseTrouble(error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

export async function checkPostgresFormat(pool: Asked, options: DatabaseOptions): Promise<void> {
  const { application, migrations } = options;
  let format: number;
  try {
    format = await readFormat(pool, application);
  } catch (error) {
    if ((error as { code?: unknown }).code !== UNDEFINED_TABLE) throw error;
    format = 0;
  }
  checkFormat('the database', format, options);
  if (format < migrations.length) {
    const sentence = `the database has format ${format} of the ${application}'s tables, this version needs ${migrations.length}`;
    throw new StartError('dataFolder', `${sentence}: run \`basa migrate ${application}\` with the same configuration`);
  }
}

/** Returns 0 if there are no tables; a database of the other service is rejected. */
async function readFormat(asked: Asked, application: string): Promise<number> {
  const { rows } = await asked.query('SELECT application, format FROM basa_format');
  const found = rows as { application: string; format: number }[];
  const other = found.find((row) => row.application !== application);
  if (other !== undefined) {
    const sentence = `the database holds the tables of a BASA ${other.application}`;
    throw new StartError('dataFolder', `${sentence}; give the ${application} a database of its own`);
  }
  return found[0]?.format ?? 0;
}

/** Turns an error that an operator can fix into a sentence; it never contains an address with a password. */
export function databaseTrouble(error: unknown): unknown {
  if (error instanceof StartError) return error;
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof message !== 'string') return error;
  const words = typeof code === 'string' ? `${message} (${code})` : message;
  return new StartError('dataFolder', `the database cannot be used: ${words}; check databaseUrl and that it runs`);
}
