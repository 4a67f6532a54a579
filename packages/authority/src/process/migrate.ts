/** Creates or changes the tables of the database that an authority's nodes share: an operator's step, before they start. */
import { migratePostgres, wrongConfiguration } from '@basa/service';
import { AUTHORITY_DATABASE } from '../store/store.ts';
import { type AuthorityPlaces, readDatabaseUrl } from './config.ts';

/** Returns the format before and after. */
export async function migrateAuthority(places: AuthorityPlaces): ReturnType<typeof migratePostgres> {
  const databaseUrl = readDatabaseUrl(places);
  if (databaseUrl === undefined)
    throw wrongConfiguration(
      'there is no databaseUrl; the database in dataFolder is migrated when the authority starts',
    );
  return migratePostgres(databaseUrl, AUTHORITY_DATABASE);
}
