/** Creates the tables of an authority, for a database in which its own role may not. */
import { type ConfigPlaces, createPostgresTables, openDatabase, wrongConfiguration } from '@basa/service';
import { AUTHORITY_DATABASE, EMBEDDED_DATABASE } from '../store/store.ts';
import { readDatabasePlace } from './config.ts';

export async function createAuthorityTables(places: ConfigPlaces): Promise<void> {
  const { databaseUrl, dataFolder } = readDatabasePlace(places);
  if (databaseUrl !== undefined) return createPostgresTables(databaseUrl, AUTHORITY_DATABASE);
  if (dataFolder !== undefined) return openDatabase(dataFolder, EMBEDDED_DATABASE).close();
  throw wrongConfiguration('neither dataFolder nor databaseUrl is set; set one');
}
