/** The server as one object: opens its data folder, takes its tasks up where they were, and serves them. */
import { join } from 'node:path';
import type { BasaEvent, SecureBuffer, ServerPorts, TaskId } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import type { Address, OnClose, ServiceOptions, Ticker } from '@basa/service';
import { countDatabase, createService, logEvent, opened, StartError, startTicker, watchProcess } from '@basa/service';
import { AuthorityLink, isFurther } from '../authority/authority-link.ts';
import { Revocations } from '../authority/revocations.ts';
import type { BlobPlace } from '../blobs/place.ts';
import { openBlobs } from '../blobs/place.ts';
import { BufferKeeper } from '../buffers/buffer-keeper.ts';
import { startWorkers } from '../closing/worker-pool.ts';
import { LiveTasks } from '../live/live-tasks.ts';
import type { OtherNodes } from '../nodes/other-nodes.ts';
import { listenToOthers } from '../nodes/other-nodes.ts';
import { ALONE, SharedTurns } from '../nodes/turns.ts';
import { mountRoutes, mountShow } from '../routes/mount.ts';
import type { PageOptions } from '../routes/pages.ts';
import type { SharedDatabase } from '../store/open-store.ts';
import { openEmbeddedStore, openSharedStore } from '../store/open-store.ts';
import type { Keep } from '../tasks/retention.ts';
import { startRetention } from '../tasks/retention.ts';
import { TaskBook } from '../tasks/task-book.ts';
import { Uploads } from '../uploads/uploads.ts';
import { checkReadiness } from '../watch/ready.ts';
import { ServerWatch } from '../watch/server-watch.ts';

export interface ServerOptions extends Omit<ServiceOptions, 'title' | 'audience' | 'clock' | 'metrics'> {
  /** Database, key and blobs; with `database` the blobs alone, in a folder that all nodes share. */
  readonly dataFolder: string;
  /** Set where several nodes are one server. */
  readonly database?: SharedDatabase;
  readonly authority: { readonly url: string; readonly publicKey: Uint8Array; readonly timeoutMs?: number };
  readonly listen: Address;
  /** Where vectors and models lie; in files below the data folder by default. */
  readonly blobs?: BlobPlace;
  readonly clock?: () => number;
  readonly fetch?: typeof fetch;
  /** How long a seat lives unused. */
  readonly seatMs?: number;
  readonly tickMs?: number;
  /** How often the authority is asked whether devices were revoked; besides, whenever it draws a buffer. */
  readonly revocationsMs?: number;
  readonly workers?: number;
  /** So many slots may a device leave unused within the time before it waits for seats. */
  readonly burntSlots?: { readonly most: number; readonly withinMs: number };
  /** What of the past is kept; everything by default. */
  readonly keep?: Keep;
  /** How often what is not kept any more is removed. */
  readonly tidyMs?: number;
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
  /** Serves on as long as it was told to drain, but says that it is not ready. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

const HEAD = 'authority-head';
export const TURN_MS = 10_000;
export const SERVER_DEFAULTS = {
  clock: (): number => Date.now(),
  fetch: ((...asked) => fetch(...asked)) as typeof fetch,
  seatMs: 30_000,
  tickMs: 500,
  revocationsMs: 10_000,
  workers: 1,
  burntSlots: { most: 20, withinMs: 3_600_000 },
  keep: {} as Keep,
  tidyMs: 60_000,
  unsafePaperMode: false,
  onEvent: (_: BasaEvent): void => {},
};

/** Where vectors and models lie. */
export function blobPlaceOf({ blobs, dataFolder, database }: ServerOptions): BlobPlace {
  return blobs ?? { kind: 'files', folder: join(dataFolder, 'blobs'), isShared: database !== undefined };
}

export function startServer(options: ServerOptions): Promise<RunningServer> {
  return opened((onClose) => open({ ...SERVER_DEFAULTS, ...options }, onClose));
}

async function open(
  settings: typeof SERVER_DEFAULTS & ServerOptions,
  onClose: OnClose,
): Promise<Omit<RunningServer, 'close'>> {
  const { dataFolder, authority, clock, database } = settings;
  const isShared = database !== undefined;
  if (isShared && settings.unsafePaperMode)
    throw new StartError(
      'configuration',
      'unsafePaperMode is serial and needs a server of its own: leave out databaseUrl',
    );
  const watch = new ServerWatch();
  const { metrics } = watch;
  onClose(watchProcess(metrics, isShared ? undefined : dataFolder));
  let onTrouble = (_: string, __: unknown): void => {};
  const onSql = {
    ...countDatabase(metrics),
    onTrouble: (error: unknown): void => onTrouble('the database is asked again', error),
  };
  const openedStore = isShared ? await openSharedStore(database, onSql) : openEmbeddedStore(dataFolder, clock, onSql);
  const { store } = openedStore;
  onClose(() => store.close());
  const signer = await openedStore.signer();
  const ports: ServerPorts = { suite: nodeSuite, signer, authorityKey: authority.publicKey };
  const place = blobPlaceOf(settings);
  const blobs = await openBlobs(place);
  onClose(() => blobs.close());
  const live = new LiveTasks({ store, clock });
  const service = await createService({
    ...settings,
    title: 'BASA server',
    audience: signer.publicKey,
    metrics,
    onAnswer: (answer) => {
      live.answered(answer);
      watch.answered(answer);
    },
  });
  const { app } = service;
  const onEvent = (event: BasaEvent): void => {
    logEvent(app, event);
    live.note(event);
    watch.note(event);
    settings.onEvent(event);
  };
  const link = new AuthorityLink({
    ...settings,
    url: authority.url,
    ports,
    timeoutMs: authority.timeoutMs ?? 30_000,
    head: await store.note(HEAD),
    keepHead: (bytes) => store.changeNote(HEAD, (known) => (isFurther(bytes, known) ? bytes : undefined)),
    onAsked: (asked) => watch.asked(asked),
  });
  const onBuffer = (buffer: SecureBuffer): void => {
    tasks.track(buffer);
    live.track(buffer);
    watch.track(buffer);
  };
  let others: OtherNodes | undefined;
  const onChange = (buffer: SecureBuffer): void => others?.tellBuffer(buffer);
  const keeper = new BufferKeeper({ store, ports, isShared, onEvent, onBuffer, onChange });
  const pool = watch.timedPool(startWorkers(settings.workers, { blobs: place }));
  onTrouble = (what, error) => {
    metrics.count('basa_troubles_total', {});
    app.log.warn({ err: error }, what);
  };
  const turnMs = database?.turnMs ?? TURN_MS;
  const turns = isShared ? new SharedTurns({ store, turnMs, onTrouble }) : ALONE;
  const revocations = new Revocations({ store, authority: link, onTrouble: (what, error) => onTrouble(what, error) });
  const tools = { ...settings, store, blobs, keeper, ports, pool, isShared, turns, watch, revocations };
  const onTask = (task: TaskId): void => others?.tellTask(task);
  const tasks: TaskBook = new TaskBook({ ...tools, authority: link, onEvent, onTask, onTrouble });
  watch.read({
    clock,
    tasks: () => tasks.all,
    task: (name) => tasks.find(name),
    buffers: () => keeper.living,
  });
  const uploads = new Uploads(tools);
  // Alone, whatever the time since the last tick: it was down. Beside others, only where none of them was there.
  const downAfterMs = isShared ? 2 * settings.tickMs + turnMs : Number.POSITIVE_INFINITY;
  let ticker: Ticker | undefined;
  let retention: Ticker | undefined;
  let looking: Ticker | undefined;
  onClose(async () => {
    await service.close();
    await retention?.stop();
    // Whoever is asked or computes for a buffer is cut short: the next start takes it up where it is.
    link.stop();
    await looking?.stop();
    await pool.close();
    await ticker?.stop();
    await uploads.settle();
    await tasks.settle();
    await others?.close();
    await turns.giveBack();
    watch.traces.closeAll();
    if (ticker !== undefined) await store.noteAlive(downAfterMs);
  });
  await store.noteAlive(isShared ? downAfterMs : 0);
  await tasks.open();
  if (isShared) others = listenToOthers({ url: database.url, tasks, keeper, live, turns, onTrouble });
  const routes = { ...tools, service, tasks, uploads, live, onUpload: others?.tellUpload };
  mountRoutes(routes);
  if (settings.pages !== undefined) mountShow(routes, settings.pages, authority.url);
  checkReadiness(service, { store, blobs, place, link });
  const url = await service.listen(settings.listen);
  const tick = async (): Promise<void> => {
    await store.noteAlive(downAfterMs);
    await store.forgetBurnt((await store.now()) - settings.burntSlots.withinMs);
    await store.forgetLapsedSlots();
    if (isShared) {
      await store.forgetSeats();
      await tasks.refresh();
    }
    await tasks.tick();
  };
  ticker = startTicker(settings.tickMs, tick, (error) => onTrouble('a tick failed', error));
  const lookForRevocations = async (): Promise<void> => {
    const going = tasks.all.filter(({ state }) => state !== 'finished').map(({ task }) => task);
    if (going.length > 0) await revocations.look(going);
  };
  looking = startTicker(settings.revocationsMs, lookForRevocations, (error) =>
    onTrouble('revocations could not be asked for', error),
  );
  retention = startRetention({ ...tools, tasks, onTrouble });
  const buffersInMemory = (): number =>
    Math.max(
      keeper.held,
      tasks.all.reduce((sum, { held }) => sum + held, 0),
    );
  return { url, publicKey: signer.publicKey, buffersInMemory, drain: () => service.drain() };
}
