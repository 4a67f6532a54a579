/** The server as one object: opens its data folder, takes its tasks up where they were, and serves them. */
import { join } from 'node:path';
import type { BasaEvent, SecureBuffer, ServerPorts } from '@basa/protocol';
import { createNodeSigner, createWorkerPool, nodeSuite, workerModule } from '@basa/runtime/node';
import type { Address, OnClose, ServiceOptions, Ticker } from '@basa/service';
import { createService, logEvent, openDatabase, opened, SQLITE, sqliteDatabase, startTicker } from '@basa/service';
import { AuthorityLink } from './authority-link.ts';
import { openFileBlobs } from './blobs/files.ts';
import { BufferKeeper } from './buffer-keeper.ts';
import { extendByDowntime, noteAlive } from './downtime.ts';
import { LiveTasks } from './live/live-tasks.ts';
import { mountRoutes, mountShow } from './routes/mount.ts';
import type { PageOptions } from './routes/pages.ts';
import { serverKey } from './server-key.ts';
import { migrationsFor } from './store/schema.ts';
import { createSqlStore } from './store/sql-store.ts';
import { TaskBook } from './task-book.ts';
import { Uploads } from './uploads.ts';
import type { WorkResult, WorkTask } from './work/tasks.ts';

export interface ServerOptions extends Omit<ServiceOptions, 'title' | 'audience' | 'clock'> {
  readonly dataFolder: string;
  readonly authority: { readonly url: string; readonly publicKey: Uint8Array; readonly timeoutMs?: number };
  readonly listen: Address;
  readonly clock?: () => number;
  readonly fetch?: typeof fetch;
  /** How long a seat lives unused. */
  readonly seatMs?: number;
  readonly tickMs?: number;
  readonly workers?: number;
  /** So many slots may a device leave unused within the time before it waits for seats. */
  readonly burntSlots?: { readonly most: number; readonly withinMs: number };
  /** Serves tasks in the paper's own mode, which is not safe. */
  readonly unsafePaperMode?: boolean;
  /** Serves web pages, and with them the event stream, which shows to everybody when slots fill. */
  readonly pages?: PageOptions;
  onEvent?(event: BasaEvent): void;
}

export interface RunningServer {
  readonly url: string;
  readonly publicKey: Uint8Array;
  /** Buffers that have not ended: all others are in the store alone. */
  buffersInMemory(): number;
  close(): Promise<void>;
}

const HEAD = 'authority-head';
const DEFAULTS = {
  clock: (): number => Date.now(),
  fetch: ((...asked) => fetch(...asked)) as typeof fetch,
  seatMs: 30_000,
  tickMs: 500,
  workers: 1,
  burntSlots: { most: 20, withinMs: 3_600_000 },
  unsafePaperMode: false,
  onEvent: (_: BasaEvent): void => {},
};

export function startServer(options: ServerOptions): Promise<RunningServer> {
  return opened((onClose) => open({ ...DEFAULTS, ...options }, onClose));
}

async function open(
  settings: typeof DEFAULTS & ServerOptions,
  onClose: OnClose,
): Promise<Omit<RunningServer, 'close'>> {
  const { dataFolder, authority, clock } = settings;
  const opened = openDatabase(dataFolder, { application: 'server', migrations: migrationsFor(SQLITE) });
  const store = createSqlStore(sqliteDatabase(opened, clock));
  onClose(() => store.close());
  const mayMake = (await store.tasks()).length === 0;
  const signer = createNodeSigner(await serverKey(dataFolder, { mayMake }));
  const ports: ServerPorts = { suite: nodeSuite, signer, authorityKey: authority.publicKey };
  const blobFolder = join(dataFolder, 'blobs');
  const blobs = await openFileBlobs(blobFolder);
  const live = new LiveTasks({ store, clock });
  const service = await createService({
    ...settings,
    title: 'BASA server',
    audience: signer.publicKey,
    onAnswer: (answer) => live.answered(answer),
  });
  const { app } = service;
  const onEvent = (event: BasaEvent): void => {
    logEvent(app, event);
    live.note(event);
    settings.onEvent(event);
  };
  const link = new AuthorityLink({
    ...settings,
    url: authority.url,
    ports,
    timeoutMs: authority.timeoutMs ?? 30_000,
    head: await store.note(HEAD),
    keepHead: (bytes) => store.setNote(HEAD, bytes),
  });
  const onBuffer = (buffer: SecureBuffer): void => {
    tasks.track(buffer);
    live.track(buffer);
  };
  const keeper = new BufferKeeper({ store, ports, onEvent, onBuffer });
  const pool = createWorkerPool<WorkTask, WorkResult>({
    ...workerModule(import.meta.url, './work/worker'),
    size: settings.workers,
  });
  const tools = { ...settings, store, blobs, blobFolder, keeper, ports, pool };
  const onTrouble = (what: string, error: unknown): void => app.log.warn({ err: error }, what);
  const tasks: TaskBook = new TaskBook({ ...tools, authority: link, onEvent, onTrouble });
  const uploads = new Uploads(tools);
  let ticker: Ticker | undefined;
  onClose(async () => {
    await service.close();
    // Whoever is asked or computes for a buffer is cut short: the next start takes it up where it is.
    link.stop();
    await pool.close();
    await ticker?.stop();
    await uploads.settle();
    await tasks.settle();
    if (ticker !== undefined) await noteAlive(store, clock());
  });
  await tasks.open();
  await extendByDowntime(store, keeper, clock());
  const routes = { ...tools, service, tasks, uploads, live };
  mountRoutes(routes);
  if (settings.pages !== undefined) mountShow(routes, settings.pages, authority.url);
  const url = await service.listen(settings.listen);
  const tick = async (): Promise<void> => {
    await noteAlive(store, clock());
    await store.forgetBurnt(clock() - settings.burntSlots.withinMs);
    await tasks.tick();
  };
  ticker = startTicker(settings.tickMs, tick, (error) => onTrouble('a tick failed', error));
  const buffersInMemory = (): number =>
    Math.max(
      keeper.held,
      tasks.all.reduce((sum, { held }) => sum + held, 0),
    );
  return { url, publicKey: signer.publicKey, buffersInMemory };
}
