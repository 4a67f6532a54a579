/** The server as one object: opens its records, resumes its tasks, serves them, and does its periodic work. */
import { createService, type OnClose, opened, type ServiceApp, startTicker, type Ticker } from '@basa/service';
import { TaskLimits } from '../admission/task-admission.ts';
import { lookForRevocations, meetAuthorities } from '../authority/authorities.ts';
import { mountRoutes, mountShow } from '../routes/mount.ts';
import { startRetention } from '../tasks/retention.ts';
import { checkReadiness } from '../watch/ready.ts';
import { type OnEvent, ServerWatch } from '../watch/server-watch.ts';
import { blobPlaceOf, SERVER_DEFAULTS, type ServerOptions, type Settings } from './config.ts';
import { type Core, openCore } from './core.ts';

export interface RunningServer {
  readonly app: ServiceApp;
  readonly url: string;
  readonly publicKey: Uint8Array;
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
  const watch = new ServerWatch();
  const { metrics } = watch;
  /** Writes to the log, once there is one. */
  const early: [string, unknown][] = [];
  let warn = (what: string, error: unknown): void => void early.push([what, error]);
  const onTrouble = (what: string, error: unknown): void => warn(what, error);
  const onEvent: OnEvent = (event, about) => {
    service.log.event(event, about && watch.labelOf(about.task));
    watch.note(event, about);
    settings.onEvent(event);
  };
  const core = await openCore(settings, { watch, onEvent, onTrouble }, onClose);
  const { tools, tasks, bodies, live } = core;
  const { nodes, links, pool, ports } = tools;
  const service = await createService({
    ...settings,
    title: 'BASA server',
    audience: ports.signer.publicKey,
    metrics,
    onAnswer: (answer) => {
      live.answered(answer);
      watch.answered(answer);
    },
  });
  const { app } = service;
  warn = (what, error) => {
    metrics.count('basa_troubles_total', {});
    service.log.fault(what, error);
  };
  for (const [what, error] of early) warn(what, error);
  let clock: ServerClock | undefined;
  onClose(async () => {
    await service.close();
    // Requests to authorities and computations for batches end. The next start continues them.
    for (const link of links) link.stop();
    await pool.close();
    await clock?.stop();
    await bodies.settle();
    await tasks.settle();
    await nodes.close();
    watch.traces.closeAll();
  });
  await nodes.noteStart();
  await tasks.open();
  nodes.listen(core.hear);
  const { taskLimit, unsafePaperMode, pages } = settings;
  const taskLimits = taskLimit && new TaskLimits(taskLimit);
  const routes = { ...tools, service, tasks, bodies, live, taskLimits, unsafePaperMode };
  mountRoutes(routes);
  if (pages !== undefined) mountShow(routes, { ...pages, ...(settings.signIn && signInOf(settings.signIn)) });
  checkReadiness(service, tools, blobPlaceOf(settings), () =>
    tasks.all.filter(({ state }) => state !== 'finished').map(({ read }) => read.policy),
  );
  const url = await service.listen(settings.listen);
  clock = startClock(settings, core);
  void meetAuthorities(links, (words) => app.log.error(words));
  return { app, url, publicKey: ports.signer.publicKey, tick: clock.tick, drain: () => service.drain() };
}

/** Longer than an epoch, within which devices of a private task count that asked for a place. */
const FORGOTTEN_MS = 48 * 3_600_000;

interface ServerClock extends Ticker {
  /** Does all periodic work once. */
  tick(): Promise<void>;
}

/** The periodic work of a server: looks after its tasks, asks for revocations, and removes data that is no longer kept. */
function startClock(settings: Settings, { tools, tasks }: Core): ServerClock {
  const { store, placeTable, nodes, links, onTrouble } = tools;
  const tick = async (): Promise<void> => {
    await placeTable.forget((await store.now()) - FORGOTTEN_MS);
    await nodes.catchUp(() => tasks.refresh());
    await tasks.tick();
  };
  const lookForRevoked = async (): Promise<void> => {
    if (tasks.all.some(({ state }) => state !== 'finished')) await lookForRevocations(store, links);
  };
  const onNoRevocations = (error: unknown): void => onTrouble('revocations could not be requested', error);
  const tickers = [
    startTicker(settings.tickMs, tick, (error) => onTrouble('a tick failed', error)),
    startTicker(settings.revocationsMs, lookForRevoked, onNoRevocations),
    startRetention({ ...tools, keep: settings.keep, tidyMs: settings.tidyMs, tasks }),
  ];
  return {
    async tick() {
      await lookForRevoked().catch(onNoRevocations);
      await tick();
    },
    async stop() {
      await Promise.all(tickers.map((ticker) => ticker.stop()));
    },
  };
}

/** What a page may know: not the roles of groups. */
function signInOf({ issuer, clientId, audience, scope, origins }: NonNullable<Settings['signIn']>) {
  return { signIn: { issuer, clientId, audience, scope }, signInOrigins: origins };
}
