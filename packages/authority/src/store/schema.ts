/** The tables of an authority, as statements for one dialect; each entry brings a database from one format to the next. */
import type { Dialect } from '@basa/service';

/** Tables that no backup contains: the secrets of epochs, which are destroyed when an epoch ends. */
export const IN_NO_BACKUP: readonly string[] = ['shot_secrets'];

export function tablesFor({ name, blob, integer }: Dialect): readonly string[] {
  return [
    `CREATE TABLE vault (
       id ${integer} PRIMARY KEY CHECK (id = 1), kind TEXT NOT NULL, salt ${blob} NOT NULL,
       cost ${integer} NOT NULL, block_size ${integer} NOT NULL, parallel ${integer} NOT NULL, signing_key ${blob} NOT NULL);
     CREATE TABLE records (sequence ${integer} PRIMARY KEY, bytes ${blob} NOT NULL, hash ${blob} NOT NULL);
     CREATE TABLE names (
       name ${blob} NOT NULL, sequence ${integer} NOT NULL REFERENCES records, PRIMARY KEY (name, sequence))${
         name === 'sqlite' ? ' WITHOUT ROWID' : ''
       };
     CREATE TABLE shot_secrets (public_key ${blob} PRIMARY KEY, task ${blob} NOT NULL, sealed ${blob} NOT NULL);
     CREATE TABLE paper_keys (task ${blob} PRIMARY KEY, sealed ${blob} NOT NULL);
     CREATE TABLE tokens (hash ${blob} PRIMARY KEY, task ${blob} NOT NULL, ends_at ${integer} NOT NULL, used_by ${blob});
     CREATE TABLE allowed (task ${blob} NOT NULL, device_key ${blob} NOT NULL, PRIMARY KEY (task, device_key));`,
  ];
}
