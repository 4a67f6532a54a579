/** The tables of a server, as statements for one dialect. */
import { type DatabaseOptions, type Dialect, POSTGRES, SQLITE } from '@basa/service';

/** Formats of earlier versions had smaller numbers. */
const FORMAT = 26;

function tablesFor({ name, blob, integer, real, unlogged }: Dialect): readonly string[] {
  return [
    `CREATE TABLE meta (name TEXT PRIMARY KEY, value ${blob} NOT NULL)`,
    // A write under a lease is refused once another node has taken it, because the fence has risen.
    `CREATE TABLE leases (
        name TEXT PRIMARY KEY, holder TEXT NOT NULL, until ${integer} NOT NULL, fence ${integer} NOT NULL
      )`,
    // The name of a task is the hash of its policy.
    `CREATE TABLE tasks (
        task ${blob} PRIMARY KEY, policy ${blob} NOT NULL, specification TEXT NOT NULL, state TEXT NOT NULL, why TEXT, created_at ${integer} NOT NULL
      )`,
    // name: the hash of its statement. forgotten: its blobs are gone, or being removed. evaluation: the score that an operator gave.
    `CREATE TABLE models (
        task ${blob} NOT NULL REFERENCES tasks (task), version ${integer} NOT NULL, serial ${integer} NOT NULL,
        name ${blob} NOT NULL UNIQUE, model_hash ${blob} NOT NULL, blob_key TEXT NOT NULL, step_key TEXT, made_at ${integer} NOT NULL,
        accepted ${integer} NOT NULL, dropped ${integer} NOT NULL, accuracy ${real}, r2 ${real}, loss ${real},
        forgotten ${integer} NOT NULL DEFAULT 0, mean_age ${real}, metrics TEXT, evaluation TEXT,
        PRIMARY KEY (task, version)
      )`,
    // The sums in a version, and the spoilt sums that were left out. Each sum belongs to one version.
    `CREATE TABLE model_sums (
        ctx ${blob} PRIMARY KEY, task ${blob} NOT NULL, version ${integer} NOT NULL, spoilt ${integer} NOT NULL
      )`,
    'CREATE INDEX model_sums_by_version ON model_sums (task, version)',
    'CREATE INDEX models_kept ON models (task, version) WHERE forgotten = 0',
    // The sums of a statistics task; version is the number of the window.
    `CREATE TABLE window_sums (
        ctx ${blob} PRIMARY KEY, task ${blob} NOT NULL, version ${integer} NOT NULL, devices ${integer} NOT NULL, sums TEXT NOT NULL
      )`,
    'CREATE INDEX window_sums_by_window ON window_sums (task, version)',
    // Its uploads are in `shots`. aside: places do not wait for it.
    `CREATE TABLE batches (
        ctx ${blob} PRIMARY KEY, task ${blob} NOT NULL REFERENCES tasks (task),
        status TEXT NOT NULL, votes TEXT NOT NULL, included_in ${integer}, aside ${integer} NOT NULL, made_at ${integer} NOT NULL
      )`,
    // Open ones are few, and every place that is asked for counts them.
    'CREATE INDEX batches_by_status ON batches (status, task)',
    'CREATE INDEX batches_by_age ON batches (task, made_at)',
    // Opened sums that are in no version yet, with the weight of their mean, or with the reason why they are spoilt.
    `CREATE TABLE opened (
        ctx ${blob} PRIMARY KEY REFERENCES batches (ctx), task ${blob} NOT NULL, at ${integer} NOT NULL, weight_sum ${real},
        metrics TEXT, why TEXT
      )`,
    'CREATE INDEX opened_by_task ON opened (task, at)',
    // Uploads of the one-shot mode, by the hash of what their devices signed; ctx and position once they are in a batch.
    `CREATE TABLE shots (
        task ${blob} NOT NULL, name ${blob} NOT NULL, usr ${blob} NOT NULL, join_tag ${blob} NOT NULL, version ${integer} NOT NULL,
        model ${blob} NOT NULL, upload ${blob} NOT NULL, status TEXT NOT NULL, reason TEXT, ctx ${blob}, position ${integer}, body_hash ${blob},
        votes_first ${integer} NOT NULL, votes_last ${integer} NOT NULL, at ${integer} NOT NULL,
        PRIMARY KEY (task, name), UNIQUE (task, usr, join_tag), UNIQUE (task, usr, model)
      )`,
    'CREATE INDEX shots_by_status ON shots (task, status, at, name)',
    // Covers the counts of every look, so that no row is read for them.
    'CREATE INDEX shots_by_group ON shots (task, status, model, version, at, votes_first, votes_last)',
    'CREATE INDEX shots_by_version ON shots (task, usr, version)',
    'CREATE INDEX shots_by_batch ON shots (ctx, position)',
    // Epochs of authorities that devices were told of, by the hash of their statements.
    `CREATE TABLE epochs (
        statement ${blob} PRIMARY KEY, task ${blob} NOT NULL, epoch ${blob} NOT NULL, until ${integer} NOT NULL
      )`,
    // The staging of the pieces of an upload so far, and the attempt under way.
    `CREATE TABLE pieces (
        name ${blob} PRIMARY KEY, received ${integer} NOT NULL, staged TEXT, writer TEXT
      )`,
    // Devices that asked for a place to train in, and their places. Nothing is lost with a row.
    `CREATE ${unlogged}TABLE places (
        task ${blob} NOT NULL, usr ${blob} NOT NULL, asked_at ${integer} NOT NULL,
        ends_at ${integer}, version ${integer} NOT NULL, has_given ${integer} NOT NULL, PRIMARY KEY (task, usr)
      )`,
    'CREATE INDEX places_by_end ON places (task, ends_at)',
    `CREATE TABLE revoked_devices (
        usr ${blob} NOT NULL, authority ${blob} NOT NULL, PRIMARY KEY (usr, authority)
      )`,
    ...(name === 'postgres' ? CHUNKS : ['CREATE TABLE bodies (name TEXT PRIMARY KEY, bytes BLOB NOT NULL)']),
  ];
}

/** Small bodies, and blobs of servers that have no other place for them: vectors do not compress, and names are compared byte by byte. */
const CHUNKS = ['bodies', 'chunks'].flatMap((table) => [
  `CREATE TABLE ${table} (name TEXT COLLATE "C" PRIMARY KEY, bytes BYTEA NOT NULL)`,
  `ALTER TABLE ${table} ALTER COLUMN bytes SET STORAGE EXTERNAL`,
]);

const databaseOf = (dialect: Dialect): DatabaseOptions => ({
  application: 'server',
  format: FORMAT,
  tables: tablesFor(dialect),
});

/** The database of a data folder. */
export const EMBEDDED_DATABASE = databaseOf(SQLITE);
/** The database that several nodes share. */
export const SERVER_DATABASE = databaseOf(POSTGRES);
