/** The tables of a server, as statements for one dialect; each entry brings a data folder from one format to the next. */
import { type DatabaseOptions, type Dialect, POSTGRES, SQLITE } from '@basa/service';

export function migrationsFor({ name, blob, integer, real, unlogged }: Dialect): readonly string[] {
  const first = [
    `CREATE TABLE meta (name TEXT PRIMARY KEY, value ${blob} NOT NULL)`,
    `CREATE TABLE tasks (
        task ${blob} PRIMARY KEY, specification TEXT NOT NULL, state TEXT NOT NULL, why TEXT, created_at ${integer} NOT NULL
      )`,
    // A model is pending until the authority has logged it: entry is its word for it.
    `CREATE TABLE models (
        task ${blob} NOT NULL REFERENCES tasks (task), version ${integer} NOT NULL, model_hash ${blob} NOT NULL,
        ctx ${blob} NOT NULL, blob_key TEXT NOT NULL, step_key TEXT, entry ${blob}, made_at ${integer} NOT NULL,
        accepted ${integer} NOT NULL, dropped ${integer} NOT NULL, accuracy ${real}, loss ${real},
        PRIMARY KEY (task, version), UNIQUE (task, ctx)
      )`,
    `CREATE TABLE buffers (
        ctx ${blob} PRIMARY KEY, task ${blob} NOT NULL REFERENCES tasks (task), descriptor ${blob} NOT NULL,
        status TEXT NOT NULL, last_record ${integer} NOT NULL, drawn_at ${integer} NOT NULL
      )`,
    'CREATE INDEX models_by_buffer ON models (ctx)',
    'CREATE INDEX buffers_by_status ON buffers (status)',
    `CREATE TABLE records (
        ctx ${blob} NOT NULL REFERENCES buffers (ctx), number ${integer} NOT NULL, record ${blob} NOT NULL,
        PRIMARY KEY (ctx, number)
      )`,
    `CREATE TABLE deposits (
        ctx ${blob} NOT NULL REFERENCES buffers (ctx), slot ${integer} NOT NULL, deposit ${blob} NOT NULL,
        PRIMARY KEY (ctx, slot)
      )`,
    `CREATE TABLE inboxes (
        ctx ${blob} NOT NULL REFERENCES buffers (ctx), to_slot ${integer} NOT NULL, from_slot ${integer} NOT NULL,
        entry ${blob} NOT NULL, PRIMARY KEY (ctx, to_slot, from_slot)
      )`,
    `CREATE TABLE pieces (
        ctx ${blob} NOT NULL REFERENCES buffers (ctx), slot ${integer} NOT NULL, body_hash ${blob} NOT NULL,
        received ${integer} NOT NULL, PRIMARY KEY (ctx, slot)
      )`,
    `CREATE TABLE burnt_slots (
        usr ${blob} NOT NULL, ctx ${blob} NOT NULL, at ${integer} NOT NULL, PRIMARY KEY (usr, ctx)
      )`,
    'CREATE INDEX burnt_slots_by_time ON burnt_slots (at)',
    ...(name === 'postgres' ? CHUNKS : []),
  ];
  const severalNodes = [
    // What a node writes under its lease is refused once another one has taken it: the fence has risen.
    `CREATE TABLE turns (
        name TEXT PRIMARY KEY, holder TEXT NOT NULL, until ${integer} NOT NULL, fence ${integer} NOT NULL
      )`,
    `CREATE ${unlogged}TABLE seats (
        task ${blob} NOT NULL, usr ${blob} NOT NULL, ctx ${blob} NOT NULL, lapses_at ${integer} NOT NULL,
        PRIMARY KEY (task, usr)
      )`,
    'CREATE INDEX seats_by_buffer ON seats (ctx)',
    // The nonce of the buffer that is being drawn: every node asks the authority for the same.
    `ALTER TABLE tasks ADD COLUMN draw_nonce ${blob}`,
    `ALTER TABLE deposits ADD COLUMN usr ${blob}`,
    // Where the pieces lie so far, and whose piece is under way.
    'ALTER TABLE pieces ADD COLUMN staged TEXT',
    'ALTER TABLE pieces ADD COLUMN writer TEXT',
    'CREATE INDEX buffers_by_task ON buffers (task, status)',
  ];
  const retention = [
    // The blobs of the version are gone, or on their way out.
    `ALTER TABLE models ADD COLUMN forgotten ${integer} NOT NULL DEFAULT 0`,
    'CREATE INDEX models_kept ON models (task, version) WHERE forgotten = 0',
    'CREATE INDEX buffers_by_age ON buffers (task, drawn_at)',
  ];
  const places = [
    // Devices that train, or are about to: nothing is lost with them.
    `CREATE ${unlogged}TABLE places (
        task ${blob} NOT NULL, usr ${blob} NOT NULL, ends_at ${integer} NOT NULL, PRIMARY KEY (task, usr)
      )`,
  ];
  const ages = [`ALTER TABLE models ADD COLUMN mean_age ${real}`, 'ALTER TABLE models ADD COLUMN metrics TEXT'];
  const unfinishedSlots = [
    // Until its lease is over, also where its buffer ends before that.
    `CREATE TABLE unfinished_slots (
        ctx ${blob} NOT NULL, slot ${integer} NOT NULL, task ${blob} NOT NULL, usr ${blob} NOT NULL,
        until ${integer} NOT NULL, PRIMARY KEY (ctx, slot)
      )`,
    'CREATE INDEX unfinished_slots_by_user ON unfinished_slots (task, usr)',
    'CREATE INDEX unfinished_slots_by_time ON unfinished_slots (until)',
  ];
  const revocations = [
    `CREATE TABLE revoked_devices (task ${blob} NOT NULL, usr ${blob} NOT NULL, PRIMARY KEY (task, usr))`,
    `CREATE TABLE revocation_marks (task ${blob} PRIMARY KEY, branch ${blob} NOT NULL, up_to ${integer} NOT NULL)`,
  ];
  const slotKeys = [`ALTER TABLE buffers ADD COLUMN slot_keys ${blob}`];
  const suspicions = [
    // What the sums of a task say of its devices, and how many there were.
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
  ];
  const severalAuthorities = [
    'DROP TABLE revoked_devices',
    'DROP TABLE revocation_marks',
    `CREATE TABLE revoked_devices (
        task ${blob} NOT NULL, usr ${blob} NOT NULL, authority ${blob} NOT NULL, PRIMARY KEY (task, usr, authority)
      )`,
    `CREATE TABLE revocation_marks (
        task ${blob} NOT NULL, authority ${blob} NOT NULL, branch ${blob} NOT NULL, up_to ${integer} NOT NULL,
        PRIMARY KEY (task, authority)
      )`,
  ];
  const idlePlaces = [
    // A place stays after its end until its device deposits, or asks again: then it was idle.
    `ALTER TABLE places ADD COLUMN for_seat ${integer} NOT NULL DEFAULT 0`,
    `ALTER TABLE places ADD COLUMN has_lapsed ${integer} NOT NULL DEFAULT 0`,
    // The version of the model that its device trains on.
    `ALTER TABLE places ADD COLUMN version ${integer} NOT NULL DEFAULT 0`,
    `CREATE ${unlogged}TABLE waiting (
        task ${blob} NOT NULL, usr ${blob} NOT NULL, turn ${integer} NOT NULL, until ${integer} NOT NULL,
        PRIMARY KEY (task, usr)
      )`,
    'CREATE INDEX waiting_in_line ON waiting (task, turn)',
    `CREATE TABLE idle_places (
        usr ${blob} NOT NULL, task ${blob} NOT NULL, at ${integer} NOT NULL, PRIMARY KEY (usr, task, at)
      )`,
    'CREATE INDEX idle_places_by_time ON idle_places (at)',
  ];
  const tickets = [
    'DROP TABLE places',
    'DROP TABLE seats',
    'DROP TABLE waiting',
    // A place to train in, a seat in a buffer, and a number in the line of those that wait: each of them, or some. Nothing is lost with them.
    `CREATE ${unlogged}TABLE tickets (
        task ${blob} NOT NULL, usr ${blob} NOT NULL,
        ends_at ${integer}, has_lapsed ${integer} NOT NULL, for_seat ${integer} NOT NULL, version ${integer} NOT NULL,
        ctx ${blob}, seat_until ${integer}, number ${integer}, kept_until ${integer}, PRIMARY KEY (task, usr)
      )`,
    'CREATE INDEX tickets_by_end ON tickets (task, ends_at)',
    'CREATE INDEX tickets_by_buffer ON tickets (ctx, seat_until)',
    'CREATE INDEX tickets_in_line ON tickets (task, number)',
    'ALTER TABLE turns RENAME TO leases',
  ];
  const latest = [unfinishedSlots, revocations, slotKeys, suspicions, severalAuthorities, idlePlaces, tickets];
  const formats = [first, severalNodes, retention, [...ages, ...places], ...latest];
  return formats.map((statements) => statements.join(';\n'));
}

/** Blobs of servers that have no other place for them: vectors do not compress, and names are compared byte by byte. */
const CHUNKS = [
  'CREATE TABLE chunks (name TEXT COLLATE "C" PRIMARY KEY, bytes BYTEA NOT NULL)',
  'ALTER TABLE chunks ALTER COLUMN bytes SET STORAGE EXTERNAL',
];

/** The first format with layouts of version 5: older records, policies among them, are not read. */
const OLDEST = 10;

/** What a data folder holds. */
export const EMBEDDED_DATABASE: DatabaseOptions = {
  application: 'server',
  migrations: migrationsFor(SQLITE),
  oldest: OLDEST,
};
/** What several nodes share. */
export const SERVER_DATABASE: DatabaseOptions = {
  application: 'server',
  migrations: migrationsFor(POSTGRES),
  oldest: OLDEST,
};
