/** Opens what a server keeps: its database, its key and its blobs. Decides whether the server is alone with them. */
import type { createNodeSigner } from '@basa/runtime/node';
import { countDatabase, type OnClose, StartError, watchProcess } from '@basa/service';
import type { BlobStore } from '../blobs/blob-store.ts';
import { openBlobs } from '../blobs/place.ts';
import { alone } from '../nodes/alone.ts';
import type { Nodes } from '../nodes/nodes.ts';
import { shared } from '../nodes/shared.ts';
import { type OpenedStore, openEmbeddedStore, openSharedStore, type SharedDatabase } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import type { ServerWatch } from '../watch/server-watch.ts';
import { blobPlaceOf, LEASE_MS, type Settings } from './settings.ts';

export interface Records {
  readonly store: Store;
  readonly signer: ReturnType<typeof createNodeSigner>;
  readonly blobs: BlobStore;
  readonly nodes: Nodes;
}

export interface RecordsOptions {
  readonly metrics: ServerWatch['metrics'];
  readonly onTrouble: (what: string, error: unknown) => void;
  readonly onClose: OnClose;
}

interface Home extends OpenedStore {
  /** Where the database lies, if that is on this machine. */
  readonly folder?: string;
  nodes(blobs: BlobStore): Nodes;
}

export async function openRecords(settings: Settings, options: RecordsOptions): Promise<Records> {
  const { metrics, onClose } = options;
  const { database } = settings;
  const home = database === undefined ? ownHome(settings, options) : await sharedHome(database, settings, options);
  const { store } = home;
  onClose(() => store.close());
  onClose(watchProcess(metrics, home.folder));
  const signer = await home.signer();
  const blobs = await openBlobs(blobPlaceOf(settings));
  onClose(() => blobs.close());
  return { store, signer, blobs, nodes: home.nodes(blobs) };
}

function ownHome({ dataFolder, clock }: Settings, { metrics }: RecordsOptions): Home {
  const opened = openEmbeddedStore(dataFolder, clock, countDatabase(metrics));
  return { ...opened, folder: dataFolder, nodes: (blobs) => alone({ store: opened.store, blobs, clock }) };
}

async function sharedHome(
  database: SharedDatabase,
  { unsafePaperMode, tickMs }: Settings,
  { metrics, onTrouble }: RecordsOptions,
): Promise<Home> {
  if (unsafePaperMode)
    throw new StartError(
      'configuration',
      'unsafePaperMode is serial and needs a server of its own: leave out databaseUrl',
    );
  const opened = await openSharedStore(database, {
    ...countDatabase(metrics),
    onTrouble: (error) => onTrouble('the database is asked again', error),
    onNotice: (words) => onTrouble('what was acknowledged may be lost', new Error(words)),
  });
  const { url, turnMs: leaseMs = LEASE_MS } = database;
  return { ...opened, nodes: (blobs) => shared({ store: opened.store, blobs, url, leaseMs, tickMs, onTrouble }) };
}
