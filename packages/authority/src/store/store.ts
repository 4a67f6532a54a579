/** The store of an authority's log and sealed keys: its own data folder, or a database that its nodes share. */
import {
  type DatabaseOptions,
  FIRST_FORMAT,
  openDatabase,
  openPostgres,
  POSTGRES,
  SQLITE,
  type SqlDatabase,
  type SqlSession,
  type SqlWatch,
  sqliteDatabase,
} from '@basa/service';
import { tablesFor } from './schema.ts';
import { AuthorityTables } from './tables.ts';

/** One of the two. */
export type StorePlace = { readonly dataFolder: string } | { readonly databaseUrl: string };

export interface AuthorityStore {
  /** Its name in messages to people: never an address, which may hold a password. */
  readonly place: string;
  /** Reads records that other nodes may have written, by `look`. Does nothing if only this node has the records. */
  catchUp(look: () => Promise<void>): Promise<void>;
  /** Runs all of `work` or nothing, and is durable when it ends. It may run again: it must read before it writes. */
  transaction<Result>(work: (tables: AuthorityTables) => Promise<Result>): Promise<Result>;
  /** Called after something was destroyed: removes it from the files that we can empty. */
  purge(): Promise<void>;
  close(): Promise<void>;
}

export interface StoreOptions extends SqlWatch {
  /** Instead of the clock of the database. */
  readonly clock?: (() => number) | undefined;
  onTrouble?(error: unknown): void;
}

/** The tables in a data folder. */
export const EMBEDDED_DATABASE: DatabaseOptions = {
  application: 'authority',
  format: FIRST_FORMAT,
  tables: tablesFor(SQLITE),
};
/** The tables in a PostgreSQL. */
export const AUTHORITY_DATABASE: DatabaseOptions = {
  application: 'authority',
  format: FIRST_FORMAT,
  tables: tablesFor(POSTGRES),
};

export async function openStore(
  place: StorePlace,
  { clock, onTrouble = () => {}, ...watch }: StoreOptions,
): Promise<AuthorityStore> {
  if ('dataFolder' in place) {
    const opened = openDatabase(place.dataFolder, EMBEDDED_DATABASE);
    const database = sqliteDatabase(opened, clock ?? Date.now, watch);
    const purge = (): Promise<void> => database.checkpoint();
    return { ...storeOf(database), place: place.dataFolder, catchUp: async () => {}, purge };
  }
  const database = await openPostgres({ url: place.databaseUrl, ...AUTHORITY_DATABASE, ...watch, onTrouble });
  // PostgreSQL removes deleted rows when it vacuums; its log and backups keep them, sealed.
  return { ...storeOf(database, clock), place: 'the database', catchUp: (look) => look(), purge: async () => {} };
}

function storeOf(database: SqlDatabase, clock?: () => number): Pick<AuthorityStore, 'transaction' | 'close'> {
  const timed = (session: SqlSession): SqlSession =>
    clock === undefined ? session : { query: session.query, now: async () => clock() };
  return {
    transaction: (work) =>
      database.transaction((session) => work(new AuthorityTables(timed(session), database.dialect))),
    close: () => database.close(),
  };
}
