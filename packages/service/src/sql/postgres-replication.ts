/** Checks that acknowledged commits of a PostgreSQL survive its loss: an asynchronous standby lacks the last commits. */
import type pg from 'pg';

const STANDBYS = `SELECT current_setting('synchronous_standby_names') AS names,
  (SELECT COUNT(*) FROM pg_stat_replication)::int AS standbys`;

/** Returns a notice for the operator; undefined if there is no standby, or if commits wait for it. */
export async function replicationNotice(pool: Pick<pg.Pool, 'query'>): Promise<string | undefined> {
  const { rows } = await pool.query(STANDBYS);
  const [{ names, standbys }] = rows as [{ readonly names: string; readonly standbys: number }];
  if (standbys === 0 || names !== '') return undefined;
  return (
    'the database has a standby but does not wait for it, so a fail-over loses the newest acknowledged data; ' +
    "set synchronous_standby_names = '*' there, or never fail over to it"
  );
}

/** A commit whose wait was cancelled: it is durable only on the primary. */
export function isUnreplicated({ message }: { readonly message?: string | undefined }): boolean {
  return message?.includes('wait for synchronous replication') ?? false;
}
