/** The records of a server, and the working parts over them: the links to the authorities, batches, tasks and uploads. */

import type { Signer, Suite } from '@basa/masking';
import type { BasaEvent, ServerPorts } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { countDatabase, type OnClose, StartError, watchProcess } from '@basa/service';
import { Places } from '../admission/places.ts';
import { AuthorityLinks, Revocations } from '../authority/authorities.ts';
import { AuthorityLink } from '../authority/authority-link.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import { openBlobs } from '../blobs/place.ts';
import { bodyRows, withRows } from '../blobs/rows.ts';
import { startWorkers } from '../closing/opening.ts';
import type { LiveTasks } from '../live/live-tasks.ts';
import { type Listener, type Nodes, openNodes } from '../nodes/nodes.ts';
import { BatchKeeper } from '../shots/batches.ts';
import { type OpenedStore, openEmbeddedStore, openSharedStore, type SharedDatabase } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { TaskBook } from '../tasks/task-book.ts';
import type { TaskTools } from '../tasks/task-tools.ts';
import { Bodies, openPieces } from '../uploads/bodies.ts';
import type { ServerWatch } from '../watch/server-watch.ts';
import { type AuthorityAddress, blobPlaceOf, bodyPlaceOf, LEASE_MS, type Settings } from './config.ts';

export interface CoreOptions {
  readonly watch: ServerWatch;
  readonly live: LiveTasks;
  readonly onEvent: (event: BasaEvent) => void;
  readonly onTrouble: (what: string, error: unknown) => void;
}

export interface Core {
  readonly tools: TaskTools;
  readonly tasks: TaskBook;
  readonly bodies: Bodies;
  readonly listener: Listener;
  /** The number of batches of which something is in memory. */
  buffersInMemory(): number;
  /** Stops requests to the authority and computations for batches. The next start continues them. */
  interrupt(): Promise<void>;
  /** Waits for work under way. */
  settle(): Promise<void>;
}

const AUTHORITY_TIMEOUT_MS = 30_000;

/** The working parts of a server over its records: the links to the authorities, batches, tasks and uploads. */
export async function openCore(settings: Settings, records: Records, options: CoreOptions): Promise<Core> {
  const { authorities, clock } = settings;
  const { store, placeTable, blobs, nodes, signer } = records;
  const { watch, live, onEvent, onTrouble } = options;
  const ports: ServerPorts = { suite: rememberingSuite(nodeSuite), signer };
  const linkTo = ({ url, publicKey, timeoutMs }: AuthorityAddress): AuthorityLink =>
    new AuthorityLink({
      ...settings,
      url,
      publicKey,
      ports,
      timeoutMs: timeoutMs ?? AUTHORITY_TIMEOUT_MS,
      onAsked: (asked) => watch.asked(asked),
    });
  const links = new AuthorityLinks({ links: authorities.map(linkTo), ports, clock });
  const { upToDate, tell } = nodes;
  const batches = new BatchKeeper({
    store,
    ports,
    upToDate,
    onEvent,
    onChange: tell.buffer,
    onBatch(batch) {
      tasks.track(batch);
      live.track(batch);
      watch.track(batch);
    },
  });
  const pool = watch.timedPool(startWorkers(settings.workers, { bodies: bodyPlaceOf(settings) }));
  const revocations = new Revocations({ store, authorities: links });
  const { taskBytes } = settings;
  const base = { store, placeTable, blobs, batches, ports, nodes, watch };
  const tools: TaskTools = {
    ...base,
    authorities: links,
    revocations,
    pool,
    clock,
    taskBytes,
    onEvent,
    onTrouble,
  };
  const tasks: TaskBook = new TaskBook(tools);
  const bodies = new Bodies({ ...base, pieces: openPieces(base) });
  watch.read({
    clock,
    tasks: () => tasks.all,
    task: (name) => tasks.find(name),
    batches: () => batches.living,
  });
  return {
    tools,
    tasks,
    bodies,
    listener: listenerOf(tools, tasks, live),
    buffersInMemory: () =>
      Math.max(
        batches.held,
        tasks.all.reduce((sum, { held }) => sum + held, 0),
      ),
    async interrupt() {
      links.stop();
      await pool.close();
    },
    async settle() {
      await bodies.settle();
      await tasks.settle();
    },
  };
}

/** Reads a batch again if a listener watches it, or if this node may have to end it now. */
function listenerOf({ batches, nodes }: TaskTools, tasks: TaskBook, live: LiveTasks): Listener {
  return {
    onTask: () => tasks.refresh(),
    async onBuffer(ctx) {
      if (live.isWatched) await batches.fresh(ctx);
    },
    async onUpload(name, ctx) {
      const task = tasks.find(name);
      if (task !== undefined && nodes.leases.has(task.task)) task.uploaded(ctx);
    },
  };
}

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

/** Opens the records of a server: its database, its key and its blobs. */
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

/** About 100 bytes each. Up to twice as many are kept, the last ones. */
const MOST = 20_000;

/** A suite that remembers valid signatures: the certificate of a device comes with its every request. */
export function rememberingSuite(suite: Suite, most: number = MOST): Suite {
  let [young, old] = [new Set<string>(), new Set<string>()];
  return {
    ...suite,
    verify(signed) {
      const { publicKey, signature, message } = signed;
      // Unusual lengths would make the name ambiguous.
      if (publicKey.length !== 32 || signature.length !== 64) return suite.verify(signed);
      const name = Buffer.from(suite.sha256(publicKey, signature, message)).toString('latin1');
      if (young.has(name)) return true;
      const isGood = old.has(name) || suite.verify(signed);
      if (!isGood) return false;
      young.add(name);
      if (young.size >= most) [young, old] = [new Set(), young];
      return true;
    },
  };
}
