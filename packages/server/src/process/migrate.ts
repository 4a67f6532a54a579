/** Makes or changes the tables of a server: an operator's step, before it starts with another version. */
import { type ConfigPlaces, type Migrated, type MigrationWish, migrateFolder, migratePostgres } from '@basa/service';
import { EMBEDDED_DATABASE, SERVER_DATABASE } from '../store/schema.ts';
import { readServerConfig } from './config.ts';

export async function migrateServer(places: ConfigPlaces, wish: MigrationWish = {}): Promise<Migrated> {
  const { database, dataFolder } = readServerConfig(places);
  return database === undefined
    ? migrateFolder(dataFolder, EMBEDDED_DATABASE, wish)
    : migratePostgres(database.url, SERVER_DATABASE, wish);
}
