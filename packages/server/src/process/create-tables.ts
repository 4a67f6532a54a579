/** Creates the tables of a server, for a database in which its own role may not. */
import { type ConfigPlaces, createPostgresTables, openDatabase } from '@basa/service';
import { EMBEDDED_DATABASE, SERVER_DATABASE } from '../store/schema.ts';
import { readServerConfig } from './config.ts';

export async function createServerTables(places: ConfigPlaces): Promise<void> {
  const { database, dataFolder } = readServerConfig(places);
  if (database === undefined) openDatabase(dataFolder, EMBEDDED_DATABASE).close();
  else await createPostgresTables(database.url, SERVER_DATABASE);
}
