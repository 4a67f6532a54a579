/** The tables of an authority. */

export const TABLES = `
  CREATE TABLE vault (
    id INTEGER PRIMARY KEY CHECK (id = 1), kind TEXT NOT NULL, salt BLOB NOT NULL,
    cost INTEGER NOT NULL, block_size INTEGER NOT NULL, parallel INTEGER NOT NULL, signing_key BLOB NOT NULL);
  CREATE TABLE tasks (task BLOB PRIMARY KEY, policy BLOB NOT NULL);
  CREATE TABLE devices (
    task BLOB NOT NULL REFERENCES tasks, user BLOB NOT NULL, device_key BLOB NOT NULL,
    PRIMARY KEY (task, user)) WITHOUT ROWID;
  CREATE TABLE predecessors (
    task BLOB PRIMARY KEY REFERENCES tasks, predecessor BLOB NOT NULL, needed INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE imported (
    task BLOB NOT NULL REFERENCES predecessors, user BLOB NOT NULL, authority INTEGER NOT NULL,
    revoked INTEGER NOT NULL, participations INTEGER NOT NULL, PRIMARY KEY (task, user, authority)) WITHOUT ROWID;
  CREATE TABLE revoked (user BLOB PRIMARY KEY);
  CREATE TABLE older_keys (sealed BLOB NOT NULL);
  CREATE TABLE participations (
    task BLOB NOT NULL, user BLOB NOT NULL, ctx BLOB NOT NULL, PRIMARY KEY (task, user, ctx)) WITHOUT ROWID;
  CREATE TABLE paper_keys (task BLOB PRIMARY KEY, sealed BLOB NOT NULL);
  CREATE TABLE tokens (
    task BLOB NOT NULL, hash BLOB NOT NULL, ends_at INTEGER NOT NULL, used_by BLOB, PRIMARY KEY (task, hash));
  CREATE TABLE allowed (task BLOB NOT NULL, device_key BLOB NOT NULL, PRIMARY KEY (task, device_key));`;
