/** Makes or changes the tables of an authority: an operator's step, before it starts with another version. */
import {
  type ConfigPlaces,
  type Migrated,
  type MigrationWish,
  migrateFolder,
  migratePostgres,
  wrongConfiguration,
} from '@basa/service';
import { AUTHORITY_DATABASE, EMBEDDED_DATABASE } from '../store/store.ts';
import { readDatabasePlace } from './config.ts';

export async function migrateAuthority(places: ConfigPlaces, wish: MigrationWish = {}): Promise<Migrated> {
  const { databaseUrl, dataFolder } = readDatabasePlace(places);
  if (databaseUrl !== undefined) return migratePostgres(databaseUrl, AUTHORITY_DATABASE, wish);
  if (dataFolder !== undefined) return migrateFolder(dataFolder, EMBEDDED_DATABASE, wish);
  throw wrongConfiguration('neither dataFolder nor databaseUrl is set, so there is nothing to migrate; set one');
}
