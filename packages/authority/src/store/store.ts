/** The store of an authority's tasks, devices and sealed keys: the database in its data folder. */
import { type DatabaseOptions, FIRST_FORMAT, openDatabase, type SqlWatch, sqliteDatabase } from '@basa/service';
import { TABLES } from './schema.ts';
import { AuthorityTables } from './tables.ts';

export interface AuthorityStore {
  /** Its data folder, for messages to people. */
  readonly place: string;
  /** Runs all of `work` or nothing, and is durable when it ends. */
  transaction<Result>(work: (tables: AuthorityTables) => Promise<Result>): Promise<Result>;
  /** Called after something was destroyed: removes it from the files that we can empty. */
  purge(): Promise<void>;
  close(): Promise<void>;
}

export interface StoreOptions extends SqlWatch {
  readonly clock?: (() => number) | undefined;
}

export const AUTHORITY_DATABASE: DatabaseOptions = { application: 'authority', format: FIRST_FORMAT, tables: [TABLES] };

export function openStore(dataFolder: string, { clock = Date.now, ...watch }: StoreOptions = {}): AuthorityStore {
  const database = sqliteDatabase(openDatabase(dataFolder, AUTHORITY_DATABASE), clock, watch);
  return {
    place: dataFolder,
    transaction: (work) => database.transaction((session) => work(new AuthorityTables(session))),
    purge: () => database.checkpoint(),
    close: () => database.close(),
  };
}
