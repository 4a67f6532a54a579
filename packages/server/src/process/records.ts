/** Opens the records of a server: its database, its key and its blobs. */
import type { Signer } from '@basa/masking';
import { countDatabase, type OnClose, StartError, watchProcess } from '@basa/service';
import { Places } from '../admission/places.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import { bodyRows } from '../blobs/body-rows.ts';
import { openBlobs } from '../blobs/place.ts';
import { withRows } from '../blobs/with-rows.ts';
import { type Nodes, openNodes } from '../nodes/nodes.ts';
import { type OpenedStore, openEmbeddedStore, openSharedStore, type SharedDatabase } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import type { ServerWatch } from '../watch/server-watch.ts';
import { blobPlaceOf, LEASE_MS, type Settings } from './settings.ts';

export interface Records {
  readonly store: Store;
  readonly placeTable: Places;
  readonly signer: Signer;
  readonly blobs: BlobStore;
  readonly nodes: Nodes;
}

export interface RecordsOptions {
  readonly metrics: ServerWatch['metrics'];
  readonly onTrouble: (what: string, error: unknown) => void;
  readonly onClose: OnClose;
}

export async function openRecords(settings: Settings, options: RecordsOptions): Promise<Records> {
  const { metrics, onTrouble, onClose } = options;
  const { database: shared, dataFolder, clock } = settings;
  const opened =
    shared === undefined
      ? openEmbeddedStore(dataFolder, clock, countDatabase(metrics))
      : await sharedStore(shared, settings, options);
  const { store, database } = opened;
  onClose(() => store.close());
  onClose(watchProcess(metrics, shared === undefined ? dataFolder : undefined));
  const signer = await opened.signer();
  const blobs = withRows(await openBlobs(blobPlaceOf(settings)), bodyRows(database));
  onClose(() => blobs.close());
  const placeTable = new Places(database);
  const nodes = openNodes({
    store,
    placeTable,
    leaseMs: shared?.leaseMs ?? LEASE_MS,
    shared: shared && { url: shared.url },
    onTrouble,
  });
  return { store, placeTable, signer, blobs, nodes };
}

function sharedStore(
  database: SharedDatabase,
  { unsafePaperMode }: Settings,
  { metrics, onTrouble }: RecordsOptions,
): Promise<OpenedStore> {
  if (unsafePaperMode)
    throw new StartError('configuration', 'unsafePaperMode works only on a single server; remove databaseUrl');
  return openSharedStore(database, {
    ...countDatabase(metrics),
    onTrouble: (error) => onTrouble('a database request is repeated', error),
    onNotice: (words) => onTrouble('acknowledged data may be lost', new Error(words)),
  });
}
