/** Creates or changes the tables of the database that several nodes share: an operator's step, before they start. */
import { type Migrated, migratePostgres, wrongConfiguration } from '@basa/service';
import { SERVER_DATABASE } from '../store/schema.ts';
import { type ConfigPlaces, readServerConfig } from './config.ts';

export async function migrateServer(places: ConfigPlaces): Promise<Migrated> {
  const { database } = readServerConfig(places);
  if (database === undefined)
    throw wrongConfiguration('there is no databaseUrl; the database in dataFolder is migrated when the server starts');
  return migratePostgres(database.url, SERVER_DATABASE);
}
