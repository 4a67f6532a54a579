/** Opens small bodies for another thread or program: with its own connection, and read-only in a data folder. */
import { readEmbedded } from '@basa/service/read-rows';
import { type BodyRows, bodyRows, type RowsPlace } from './body-rows.ts';

export async function openRows(place: RowsPlace): Promise<BodyRows> {
  const database = 'url' in place ? await shared(place.url) : readEmbedded(place.folder);
  return { ...bodyRows(database), close: () => database.close() };
}

/** Loads the whole of a service. */
async function shared(url: string) {
  const { openPostgres } = await import('@basa/service');
  const { SERVER_DATABASE } = await import('../store/schema.ts');
  return openPostgres({ ...SERVER_DATABASE, url, connections: 1 });
}
