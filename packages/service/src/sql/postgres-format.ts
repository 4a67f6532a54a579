/** The tables of a PostgreSQL database: their owner, their format, and their creation. */
import pg from 'pg';
import { StartError } from '../process/start-error.ts';
import { checkFormat, type DatabaseOptions } from './sql.ts';

type Asked = Pick<pg.Client, 'query'> | Pick<pg.Pool, 'query'>;
/** The lock that makes nodes wait for each other that create the tables of one database: "basa" in ASCII. */
const CREATION_LOCK = 0x62617361;
const UNDEFINED_TABLE = '42P01';

/** Creates the tables in one transaction, if there are none. Several nodes may call this at the same time. */
export async function createPostgresTables(url: string, options: DatabaseOptions): Promise<void> {
  const { application, format, tables } = options;
  const client = new pg.Client({ connectionString: url, application_name: 'basa-create-tables' });
  try {
    await client.connect();
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1)', [CREATION_LOCK]);
    await client.query(
      'CREATE TABLE IF NOT EXISTS basa_format (application TEXT PRIMARY KEY, format INTEGER NOT NULL)',
    );
    const found = await readFormat(client, application);
    checkFormat('the database', found, options);
    if (found === 0) {
      for (const table of tables) await client.query(table);
      await client.query('INSERT INTO basa_format (application, format) VALUES ($1, $2)', [application, format]);
    }
    await client.query('COMMIT');
  } catch (error) {
    throw databaseTrouble(error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Returns true if the tables are those of this version, and false if there are none yet. */
export async function hasPostgresTables(pool: Asked, options: DatabaseOptions): Promise<boolean> {
  let found = 0;
  try {
    found = await readFormat(pool, options.application);
  } catch (error) {
    if ((error as { code?: unknown }).code !== UNDEFINED_TABLE) throw error;
  }
  checkFormat('the database', found, options);
  return found > 0;
}

/** Returns 0 if there are no tables. A database of the other service is refused. */
async function readFormat(asked: Asked, application: string): Promise<number> {
  const { rows } = await asked.query('SELECT * FROM basa_format');
  const found = rows as { application: string; format: number }[];
  const other = found.find((row) => row.application !== application);
  if (other !== undefined) {
    const sentence = `the database contains the tables of a BASA ${other.application}`;
    throw new StartError('dataFolder', `${sentence}; use another database for the ${application}`);
  }
  return found[0]?.format ?? 0;
}

/** Turns an error that an operator can fix into a sentence; it never contains an address with a password. */
export function databaseTrouble(error: unknown): unknown {
  if (error instanceof StartError) return error;
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof message !== 'string') return error;
  const words = typeof code === 'string' ? `${message} (${code})` : message;
  return new StartError(
    'dataFolder',
    `the database cannot be used: ${words}; check databaseUrl, and that the database is running`,
  );
}
