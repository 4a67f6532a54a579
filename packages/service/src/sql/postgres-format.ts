/** The tables of a PostgreSQL database: their owner, their format, and the migration that an operator runs to the newest format. */
import pg from 'pg';
import { StartError } from '../process/start-error.ts';
import { checkFormat, type DatabaseOptions, type Migrated, type MigrationWish, planMigration } from './formats.ts';

type Asked = Pick<pg.Client, 'query'> | Pick<pg.Pool, 'query'>;
/** The lock that makes migrations of one database wait for each other: "basa" in ASCII. */
const MIGRATION_LOCK = 0x62617361;
const UNDEFINED_TABLE = '42P01';

/** Creates or changes the tables in one transaction. Several nodes may call this at the same time. */
export async function migratePostgres(
  url: string,
  options: DatabaseOptions,
  wish: MigrationWish = {},
): Promise<Migrated> {
  const { application } = options;
  const client = new pg.Client({ connectionString: url, application_name: 'basa-migrate' });
  try {
    await client.connect();
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await client.query(
      'CREATE TABLE IF NOT EXISTS basa_format (application TEXT PRIMARY KEY, format INTEGER NOT NULL)',
    );
    await client.query('ALTER TABLE basa_format ADD COLUMN IF NOT EXISTS serves INTEGER');
    const { format: from } = await readFormat(client, application);
    checkFormat('the database', from, options);
    const migrated = planMigration(from, options, wish);
    for (const step of migrated.steps) await client.query(step);
    await client.query(
      `INSERT INTO basa_format (application, format, serves) VALUES ($1, $2, $3)
       ON CONFLICT (application) DO UPDATE SET format = excluded.format, serves = excluded.serves`,
      [application, migrated.to, Math.min(migrated.to, options.serves ?? migrated.to)],
    );
    await client.query(wish.isDryRun === true ? 'ROLLBACK' : 'COMMIT');
    return migrated;
  } catch (error) {
    throw databaseTrouble(error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Tables of a newer version are good for a node of this one if that version says so: nodes are upgraded one after the other. */
export async function checkPostgresFormat(pool: Asked, options: DatabaseOptions): Promise<void> {
  const { application, migrations } = options;
  let found: Found = { format: 0, serves: 0 };
  try {
    found = await readFormat(pool, application);
  } catch (error) {
    if ((error as { code?: unknown }).code !== UNDEFINED_TABLE) throw error;
  }
  const { format, serves } = found;
  if (format > migrations.length && serves <= migrations.length) return;
  checkFormat('the database', format, options);
  if (format < migrations.length) {
    const sentence = `the tables of the ${application} in the database have format ${format}, but this version needs ${migrations.length}`;
    throw new StartError('dataFolder', `${sentence}; run \`basa migrate ${application}\` with the same configuration`);
  }
}

interface Found {
  /** 0 if there are no tables. */
  readonly format: number;
  /** The oldest format whose programs may use them. */
  readonly serves: number;
}

/** A database of the other service is refused. */
async function readFormat(asked: Asked, application: string): Promise<Found> {
  const { rows } = await asked.query('SELECT * FROM basa_format');
  const found = rows as { application: string; format: number; serves?: number | null }[];
  const other = found.find((row) => row.application !== application);
  if (other !== undefined) {
    const sentence = `the database contains the tables of a BASA ${other.application}`;
    throw new StartError('dataFolder', `${sentence}; use another database for the ${application}`);
  }
  const format = found[0]?.format ?? 0;
  return { format, serves: found[0]?.serves ?? format };
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
