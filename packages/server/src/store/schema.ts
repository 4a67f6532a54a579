/** The tables of a server, as statements for one dialect; each entry brings a data folder from one format to the next. */
import { type DatabaseOptions, type Dialect, POSTGRES, SQLITE } from '@basa/service';

/** The first format in which a version can have several sums. Older data cannot be read, so there is no migration from it. */
const OLDEST = 13;

export function migrationsFor(dialect: Dialect): readonly string[] {
  const scores = `ALTER TABLE models ADD COLUMN r2 ${dialect.real}`;
  const numbers = 'CREATE INDEX buffers_by_number ON buffers (task, batch_number)';
  return [...Array<string>(OLDEST - 1).fill(''), tablesFor(dialect).join(';\n'), `${scores};\n${numbers}`];
}

/** By the format that is undone: removes the additions of this format, but nothing that was acknowledged. */
const UNDO: Readonly<Record<number, string>> = {
  14: 'DROP INDEX IF EXISTS buffers_by_number; ALTER TABLE models DROP COLUMN r2',
};

function tablesFor({ name, blob, integer, real, unlogged }: Dialect): readonly string[] {
  return [
    `CREATE TABLE meta (name TEXT PRIMARY KEY, value ${blob} NOT NULL)`,
    // A write under a lease is refused once another node has taken it, because the fence has risen.
    `CREATE TABLE leases (
        name TEXT PRIMARY KEY, holder TEXT NOT NULL, until ${integer} NOT NULL, fence ${integer} NOT NULL
      )`,
    // A descriptor names its policy by the hash, which is the name of the task. draw_nonce: the nonce of the buffer
    // that is being drawn; every node asks the authority for the same one.
    `CREATE TABLE tasks (
        task ${blob} PRIMARY KEY, policy ${blob} NOT NULL, specification TEXT NOT NULL, state TEXT NOT NULL, why TEXT, created_at ${integer} NOT NULL,
        draw_nonce ${blob}
      )`,
    // A model is pending until the authority has logged it; entry is the logged entry. forgotten: its blobs are gone,
    // or being removed.
    `CREATE TABLE models (
        task ${blob} NOT NULL REFERENCES tasks (task), version ${integer} NOT NULL, model_hash ${blob} NOT NULL,
        blob_key TEXT NOT NULL, step_key TEXT, entry ${blob}, made_at ${integer} NOT NULL,
        accepted ${integer} NOT NULL, dropped ${integer} NOT NULL, accuracy ${real}, loss ${real},
        forgotten ${integer} NOT NULL DEFAULT 0, mean_age ${real}, metrics TEXT,
        PRIMARY KEY (task, version)
      )`,
    // The sums in a version, and the spoilt sums that were left out. Each sum belongs to one version.
    `CREATE TABLE model_sums (
        ctx ${blob} PRIMARY KEY, task ${blob} NOT NULL, version ${integer} NOT NULL, spoilt ${integer} NOT NULL
      )`,
    'CREATE INDEX model_sums_by_version ON model_sums (task, version)',
    'CREATE INDEX models_kept ON models (task, version) WHERE forgotten = 0',
    // A batch of the one-shot mode is a buffer that begins frozen. It has a number, its uploads are in `shots`, and it
    // was never drawn.
    `CREATE TABLE buffers (
        ctx ${blob} PRIMARY KEY, task ${blob} NOT NULL REFERENCES tasks (task), descriptor ${blob},
        status TEXT NOT NULL, last_record ${integer} NOT NULL, drawn_at ${integer} NOT NULL, slot_keys ${blob},
        batch_number ${integer}
      )`,
    'CREATE INDEX buffers_by_status ON buffers (status)',
    'CREATE INDEX buffers_by_task ON buffers (task, status)',
    'CREATE INDEX buffers_by_age ON buffers (task, drawn_at)',
    `CREATE TABLE records (
        ctx ${blob} NOT NULL REFERENCES buffers (ctx), number ${integer} NOT NULL, record ${blob} NOT NULL,
        PRIMARY KEY (ctx, number)
      )`,
    `CREATE TABLE deposits (
        ctx ${blob} NOT NULL REFERENCES buffers (ctx), slot ${integer} NOT NULL, deposit ${blob} NOT NULL, usr ${blob},
        PRIMARY KEY (ctx, slot)
      )`,
    `CREATE TABLE inboxes (
        ctx ${blob} NOT NULL REFERENCES buffers (ctx), to_slot ${integer} NOT NULL, from_slot ${integer} NOT NULL,
        entry ${blob} NOT NULL, PRIMARY KEY (ctx, to_slot, from_slot)
      )`,
    // Opened sums that are in no logged version yet, with the weight of their mean, or with the reason why they are spoilt.
    `CREATE TABLE opened (
        ctx ${blob} PRIMARY KEY REFERENCES buffers (ctx), task ${blob} NOT NULL, at ${integer} NOT NULL, weight_sum ${real},
        version_sum ${integer}, metrics TEXT, why TEXT, slots TEXT
      )`,
    'CREATE INDEX opened_by_task ON opened (task, at)',
    // Uploads of the one-shot mode, by the hash of what their devices signed; ctx and position once they are in a batch.
    `CREATE TABLE shots (
        task ${blob} NOT NULL, name ${blob} NOT NULL, usr ${blob} NOT NULL, join_tag ${blob} NOT NULL, version ${integer} NOT NULL,
        entry ${blob} NOT NULL, upload ${blob} NOT NULL, status TEXT NOT NULL, reason TEXT, ctx ${blob}, position ${integer},
        votes_first ${integer} NOT NULL, votes_last ${integer} NOT NULL, at ${integer} NOT NULL,
        PRIMARY KEY (task, name), UNIQUE (task, usr, join_tag)
      )`,
    'CREATE INDEX shots_by_status ON shots (task, status, at, name)',
    // Covers the counts of every look, so that no row is read for them.
    'CREATE INDEX shots_by_group ON shots (task, status, entry, version, at, votes_first, votes_last)',
    'CREATE INDEX shots_by_entry ON shots (task, usr, entry)',
    'CREATE INDEX shots_by_batch ON shots (ctx, position)',
    // Epochs of authorities that devices were told of, by the hash of their statements.
    `CREATE TABLE epochs (
        statement ${blob} PRIMARY KEY, task ${blob} NOT NULL, epoch ${blob} NOT NULL, until ${integer} NOT NULL
      )`,
    // The staging of the pieces of an upload so far, and the attempt under way. One-shot uploads have their own name
    // and slot 0.
    `CREATE TABLE pieces (
        ctx ${blob} NOT NULL, slot ${integer} NOT NULL, body_hash ${blob} NOT NULL,
        received ${integer} NOT NULL, staged TEXT, writer TEXT, PRIMARY KEY (ctx, slot)
      )`,
    // A place to train in, a seat in a buffer, or a number in the line, or several of them. Nothing is lost with a
    // ticket.
    `CREATE ${unlogged}TABLE tickets (
        task ${blob} NOT NULL, usr ${blob} NOT NULL,
        ends_at ${integer}, has_lapsed ${integer} NOT NULL, for_seat ${integer} NOT NULL, version ${integer} NOT NULL,
        ctx ${blob}, seat_until ${integer}, number ${integer}, kept_until ${integer}, PRIMARY KEY (task, usr)
      )`,
    'CREATE INDEX tickets_by_end ON tickets (task, ends_at)',
    'CREATE INDEX tickets_by_buffer ON tickets (ctx, seat_until)',
    'CREATE INDEX tickets_in_line ON tickets (task, number)',
    // Until its lease is over, even if its buffer ends before that.
    `CREATE TABLE unfinished_slots (
        ctx ${blob} NOT NULL, slot ${integer} NOT NULL, task ${blob} NOT NULL, usr ${blob} NOT NULL,
        until ${integer} NOT NULL, PRIMARY KEY (ctx, slot)
      )`,
    'CREATE INDEX unfinished_slots_by_user ON unfinished_slots (task, usr)',
    'CREATE INDEX unfinished_slots_by_time ON unfinished_slots (until)',
    // Slots and places that devices left unused.
    `CREATE TABLE burnt_slots (
        usr ${blob} NOT NULL, ctx ${blob} NOT NULL, at ${integer} NOT NULL, PRIMARY KEY (usr, ctx)
      )`,
    'CREATE INDEX burnt_slots_by_time ON burnt_slots (at)',
    `CREATE TABLE idle_places (
        usr ${blob} NOT NULL, task ${blob} NOT NULL, at ${integer} NOT NULL, PRIMARY KEY (usr, task, at)
      )`,
    'CREATE INDEX idle_places_by_time ON idle_places (at)',
    `CREATE TABLE revoked_devices (
        task ${blob} NOT NULL, usr ${blob} NOT NULL, authority ${blob} NOT NULL, PRIMARY KEY (task, usr, authority)
      )`,
    `CREATE TABLE revocation_marks (
        task ${blob} NOT NULL, authority ${blob} NOT NULL, branch ${blob} NOT NULL, up_to ${integer} NOT NULL,
        PRIMARY KEY (task, authority)
      )`,
    // The evidence of a task's sums about its devices, and the number of sums.
    `CREATE TABLE suspicions (
        task ${blob} NOT NULL, usr ${blob} NOT NULL, suspicion ${real} NOT NULL, spoilt ${integer} NOT NULL,
        suspensions ${integer} NOT NULL, suspended_until ${integer}, banned ${integer} NOT NULL, last_sum ${integer} NOT NULL,
        PRIMARY KEY (task, usr)
      )`,
    'CREATE INDEX suspicions_lately ON suspicions (task, last_sum)',
    'CREATE INDEX suspects ON suspicions (task, suspicion)',
    `CREATE TABLE sums (
        task ${blob} PRIMARY KEY, judged ${integer} NOT NULL, first_at ${integer} NOT NULL, last_at ${integer} NOT NULL,
        trusted ${integer} NOT NULL, mild ${integer} NOT NULL
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
  migrations: migrationsFor(dialect),
  undo: UNDO,
  serves: OLDEST,
  oldest: OLDEST,
});

/** The database of a data folder. */
export const EMBEDDED_DATABASE = databaseOf(SQLITE);
/** The database that several nodes share. */
export const SERVER_DATABASE = databaseOf(POSTGRES);
