/** Small bodies for a thread or a program beside the server: over a connection of its own. */
import { openPostgres, readDatabase, sqliteDatabase } from '@basa/service';
import { EMBEDDED_DATABASE, SERVER_DATABASE } from '../store/schema.ts';
import { type BodyRows, bodyRows, type RowsPlace } from './body-rows.ts';

export async function openRows(place: RowsPlace): Promise<BodyRows> {
  const database =
    'url' in place
      ? await openPostgres({ ...SERVER_DATABASE, url: place.url, connections: 1 })
      : sqliteDatabase(readDatabase(place.folder, EMBEDDED_DATABASE), Date.now, {}, 'BEGIN');
  return { ...bodyRows(database), close: () => database.close() };
}
