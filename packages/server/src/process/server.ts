/** The server as one object: opens its records, resumes its tasks, and serves them. */
import type { BasaEvent } from '@basa/protocol';
import {
  createService,
  logEvent,
  type OnClose,
  opened,
  type ServiceApp,
  startTicker,
  type Ticker,
} from '@basa/service';
import { TaskLimits } from '../admission/task-admission.ts';
import { meetAuthorities } from '../authority/authorities.ts';
import { LiveTasks } from '../live/live-tasks.ts';
import { mountRoutes, mountShow } from '../routes/mount.ts';
import { startRetention } from '../tasks/retention.ts';
import { checkReadiness } from '../watch/ready.ts';
import { ServerWatch } from '../watch/server-watch.ts';
import { blobPlaceOf, SERVER_DEFAULTS, type ServerOptions, type Settings } from './config.ts';
import { type Core, openCore, openRecords } from './core.ts';

export interface RunningServer {
  readonly app: ServiceApp;
  readonly url: string;
  readonly publicKey: Uint8Array;
  /** The number of batches that have not ended: all others are only in the store. */
  buffersInMemory(): number;
  /** The periodic work: looks after tasks, and asks for revocations. */
  tick(): Promise<void>;
  /** Continues to serve for the drain time, but reports that it is not ready. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

export function startServer(options: ServerOptions): Promise<RunningServer> {
  return opened((onClose) => open({ ...SERVER_DEFAULTS, ...options }, onClose));
}

async function open(settings: Settings, onClose: OnClose): Promise<Omit<RunningServer, 'close'>> {
  const { authorities, pages } = settings;
  const watch = new ServerWatch();
  const { metrics } = watch;
  /** Writes to the log, once there is one. */
  const early: [string, unknown][] = [];
  let warn = (what: string, error: unknown): void => void early.push([what, error]);
  const onTrouble = (what: string, error: unknown): void => warn(what, error);
  const records = await openRecords(settings, { metrics, onTrouble, onClose });
  const { store, blobs, nodes, signer } = records;
  const live = new LiveTasks({ store, clock: settings.clock });
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
  warn = (what, error) => {
    metrics.count('basa_troubles_total', {});
    app.log.warn({ err: error }, what);
  };
  for (const [what, error] of early) warn(what, error);
  const onEvent = (event: BasaEvent): void => {
    logEvent(app, event);
    watch.note(event);
    settings.onEvent(event);
  };
  const core = await openCore(settings, records, { watch, live, onEvent, onTrouble });
  const { tools, tasks, bodies } = core;
  let clock: ServerClock | undefined;
  onClose(async () => {
    await service.close();
    await core.interrupt();
    await clock?.stop();
    await core.settle();
    await nodes.close();
    watch.traces.closeAll();
  });
  await nodes.noteStart();
  await tasks.open();
  nodes.listen(core.listener);
  const { taskLimit, unsafePaperMode } = settings;
  const taskLimits = taskLimit && new TaskLimits(taskLimit);
  const routes = { ...tools, service, tasks, bodies, live, taskLimits, unsafePaperMode };
  mountRoutes(routes);
  if (pages !== undefined)
    mountShow(
      routes,
      { ...pages, ...(settings.signIn && { signIn: signInOf(settings.signIn) }) },
      authorities.map(({ url }) => url),
    );
  checkReadiness(service, {
    store,
    blobs,
    place: blobPlaceOf(settings),
    links: tools.authorities,
    councils: () => tasks.all.filter(({ state }) => state !== 'finished').map(({ read }) => read.policy),
  });
  const url = await service.listen(settings.listen);
  const ticking = startClock(settings, core);
  clock = ticking;
  const contacts = tools.authorities.all.map((link, n) => ({
    url: authorities[n]?.url ?? '',
    health: () => link.health(),
  }));
  void meetAuthorities(contacts, (words) => app.log.error(words));
  return {
    app,
    url,
    publicKey: signer.publicKey,
    tick: ticking.tick,
    buffersInMemory: core.buffersInMemory,
    drain: () => service.drain(),
  };
}

/** Longer than an epoch, within which devices of a private task count that asked for a place. */
const FORGOTTEN_MS = 48 * 3_600_000;

interface ServerClock extends Ticker {
  /** Does all periodic work once. */
  tick(): Promise<void>;
}

/** The periodic work of a server: looks after its tasks, asks for revocations, and removes data that is no longer kept. */
function startClock(settings: Settings, { tools, tasks }: Core): ServerClock {
  const { store, placeTable, nodes, revocations, onTrouble } = tools;
  const tick = async (): Promise<void> => {
    await placeTable.forget((await store.now()) - FORGOTTEN_MS);
    await nodes.catchUp(() => tasks.refresh());
    await tasks.tick();
  };
  const lookForRevocations = async (): Promise<void> => {
    if (tasks.all.some(({ state }) => state !== 'finished')) await revocations.look();
  };
  const onNoRevocations = (error: unknown): void => onTrouble('revocations could not be requested', error);
  const tickers = [
    startTicker(settings.tickMs, tick, (error) => onTrouble('a tick failed', error)),
    startTicker(settings.revocationsMs, lookForRevocations, onNoRevocations),
    startRetention({ ...tools, keep: settings.keep, tidyMs: settings.tidyMs, tasks }),
  ];
  return {
    async tick() {
      await lookForRevocations().catch(onNoRevocations);
      await tick();
    },
    async stop() {
      await Promise.all(tickers.map((ticker) => ticker.stop()));
    },
  };
}

/** What a page may know: not the roles of groups. */
function signInOf({ issuer, clientId, audience, scope }: NonNullable<Settings['signIn']>) {
  return { issuer, clientId, audience, scope };
}
