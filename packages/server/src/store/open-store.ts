/** The store of a server and its signing key: both in its data folder, or shared by several nodes. */
import { chmod, open, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { equalBytes, fromHex, type Signer, toHex } from '@basa/masking';
import { createNodeSigner, nodeRandomBytes } from '@basa/runtime/node';
import { openDatabase, openPostgres, type SqlDatabase, type SqlWatch, StartError, sqliteDatabase } from '@basa/service';
import { flushNames } from '@basa/service/durable-names';
import { EMBEDDED_DATABASE, SERVER_DATABASE } from './schema.ts';
import { createStore, type Store } from './store.ts';

export const KEY_FILE = 'server.key';
const KEY_BYTES = 32;

/** The signing key of a server, made at its first start: policies name its public half. `mayMake`: a folder that holds tasks must already have its key. */
export async function serverKey(folder: string, { mayMake }: { readonly mayMake: boolean }): Promise<Uint8Array> {
  const path = join(folder, KEY_FILE);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined && mayMake) return makeKey(path);
  const secret = fromHex((text ?? '').trim());
  if (secret?.length !== KEY_BYTES)
    throw new StartError('keys', `${path} is missing or is not a key; restore it from a backup`);
  await chmod(path, 0o600);
  return secret;
}

/** Writes the key completely or not at all, even if the process is killed. */
async function makeKey(path: string): Promise<Uint8Array> {
  const secret = nodeRandomBytes(KEY_BYTES);
  const file = await open(`${path}.new`, 'w', 0o600);
  try {
    await file.writeFile(`${toHex(secret)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
  flushNames(dirname(path));
  return secret;
}

/** A database that several nodes share, and the settings that make them one server. */
export interface SharedDatabase {
  /** postgres://user:password@host/database */
  readonly url: string;
  /** The secret half of the server's key, the same at every node. */
  readonly signingKey: Uint8Array;
  readonly connections?: number | undefined;
  /** The time for which a request waits for a database that does not answer. */
  readonly patienceMs?: number;
  /** The time for which a node may be silent before another one ends its batches. */
  readonly leaseMs?: number | undefined;
}

export interface OpenedStore {
  readonly database: SqlDatabase;
  readonly store: Store;
  /** Returns the signer of the server, whose key may be made now. */
  signer(): Promise<Signer>;
}

const PUBLIC_KEY = 'server-key';

/** The store of a server and its signing key: both in its data folder, or shared by several nodes. */
export function openEmbeddedStore(dataFolder: string, clock: () => number, watch: SqlWatch): OpenedStore {
  const database = sqliteDatabase(openDatabase(dataFolder, EMBEDDED_DATABASE), clock, watch);
  const store = createStore(database, () => database.checkpoint());
  return {
    database,
    store,
    async signer() {
      const mayMake = (await store.taskStates()).length === 0;
      return createNodeSigner(await serverKey(dataFolder, { mayMake }));
    },
  };
}

export async function openSharedStore(
  { url, signingKey, connections, patienceMs }: SharedDatabase,
  watch: SqlWatch & { onTrouble(error: unknown): void; onNotice?(words: string): void },
): Promise<OpenedStore> {
  const patience = patienceMs === undefined ? {} : { patienceMs };
  const most = connections === undefined ? {} : { connections };
  const database = await openPostgres({ ...SERVER_DATABASE, ...patience, ...most, ...watch, url });
  const store = createStore(database);
  return {
    database,
    store,
    async signer() {
      const signer = createNodeSigner(signingKey);
      let isOther = false;
      await store.changeNote(PUBLIC_KEY, (kept) => {
        isOther = kept !== undefined && !equalBytes(kept, signer.publicKey);
        return kept ?? signer.publicKey;
      });
      if (isOther)
        throw new StartError(
          'keys',
          'signingKey differs from the key of the other nodes of this database; use the same key for all nodes',
        );
      return signer;
    },
  };
}
