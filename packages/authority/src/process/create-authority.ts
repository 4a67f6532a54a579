/** The authority as a service: opens its database, unlocks its keys and its units, and listens. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type RandomBytes, toHex } from '@basa/masking';
import { type BasaEvent, millis } from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import {
  type Address,
  countDatabase,
  createQueue,
  createService,
  type OnClose,
  opened,
  type RateLimit,
  type RunningService,
  type ServiceApp,
  type ServiceOptions,
  startTicker,
  TokenBuckets,
  watchProcess,
} from '@basa/service';
import { PaperKeys } from '../keys/paper-keys.ts';
import { unlock } from '../keys/unlock.ts';
import { ExaminedUploads, MaskThreads } from '../masks/mask-threads.ts';
import { deviceRoutes, successorRoutes } from '../routes/devices.ts';
import { unsafePaperRoutes } from '../routes/paper.ts';
import { shotRoutes } from '../routes/shots.ts';
import { taskRoutes } from '../routes/tasks.ts';
import { AUDIT_FILE, Audit } from '../steps/audit.ts';
import type { AuthorityContext } from '../steps/context.ts';
import { enrolmentHook, type HookOptions } from '../steps/enrolment.ts';
import { settleEpochs, tick } from '../steps/shots.ts';
import { Tasks } from '../steps/tasks.ts';
import { AuthorityWatch } from '../steps/watch.ts';
import { openStore } from '../store/store.ts';
import { olderVault, type VaultSecret } from '../store/vault.ts';
import { Units } from '../units/units.ts';

export interface AuthorityOptions extends Omit<ServiceOptions, 'title' | 'audience' | 'clock' | 'metrics'> {
  readonly dataFolder: string;
  /** The secret that seals the keys at rest. */
  readonly secret: VaultSecret;
  readonly listen?: Address;
  readonly tickMs?: number;
  /** Limits the requests of one device for the status of uploads, and for keys in `paper` mode. */
  readonly keyLimit?: RateLimit;
  /** The number of threads that examine uploads and sum masks. They start when there is work for them. */
  readonly workers?: number;
  /** Mounts the routes of `paper` mode, which does not protect updates. */
  readonly unsafePaperMode?: boolean;
  /** Asked whether a device may enrol, instead of tokens and the allow-list. */
  readonly enrolmentHook?: HookOptions | undefined;
  readonly onEvent?: (event: BasaEvent) => void;
  readonly clock?: () => number;
  readonly randomBytes?: RandomBytes;
}

export interface Authority extends RunningService {
  readonly app: ServiceApp;
  readonly publicKey: Uint8Array;
  /** The periodic work: opens epochs, and destroys the units of those that are over. */
  tick(): Promise<void>;
  drain(): Promise<void>;
}

/** The folder of the units, in the data folder. */
const UNITS = 'units';

export const AUTHORITY_DEFAULTS = {
  listen: { host: '127.0.0.1', port: 0 },
  tickMs: 5000,
  keyLimit: { burst: 20, perSecond: 2 },
  workers: 2,
  unsafePaperMode: false,
  onEvent: (_: BasaEvent): void => {},
  randomBytes: nodeRandomBytes as RandomBytes,
};

export function createAuthority(options: AuthorityOptions): Promise<Authority> {
  return opened((onClose) => open({ ...AUTHORITY_DEFAULTS, ...options }, onClose));
}

async function open(
  settings: typeof AUTHORITY_DEFAULTS & AuthorityOptions,
  onClose: OnClose,
): Promise<Omit<Authority, 'close'>> {
  const { clock = Date.now, randomBytes } = settings;
  const { dataFolder } = settings;
  const watch = new AuthorityWatch();
  const { metrics } = watch;
  onClose(watchProcess(metrics, dataFolder));
  const store = openStore(dataFolder, { clock, ...countDatabase(metrics) });
  onClose(() => store.close());
  const { vault, signer } = await unlock(store, settings);
  onClose(() => vault.wipe());
  const keys = await store.transaction((tables) => tables.olderKeys());
  const older = keys.flatMap((sealed) => olderVault(vault, sealed, randomBytes) ?? []);
  const units = await Units.open({ folder: join(dataFolder, UNITS), vault, older });
  onClose(() => units.close());
  for (const one of older) one.wipe();
  const threads = new MaskThreads(settings.workers);
  onClose(() => threads.close());
  const title = 'BASA attribute authority';
  const onAnswer = watch.answered;
  const service = await createService({ ...settings, clock, title, audience: signer.publicKey, metrics, onAnswer });
  onClose(() => service.close());
  const { app } = service;
  const { enrolmentHook: hookOptions, unsafePaperMode } = settings;
  const context: AuthorityContext = {
    service,
    tasks: await Tasks.open({ store, signer }),
    store,
    units,
    queue: createQueue(),
    examined: new ExaminedUploads(),
    threads,
    audit: new Audit(join(dataFolder, AUDIT_FILE), clock),
    signer,
    hook: hookOptions && enrolmentHook(hookOptions),
    keyLimits: new TokenBuckets(settings.keyLimit),
    unsafePaperMode,
    watch,
    randomBytes,
    now: () => millis(clock()),
    onEvent(event, task) {
      service.log.event(event, task && toHex(task).slice(0, 8));
      watch.note(event);
      settings.onEvent(event);
    },
  };
  if ('keyFile' in settings.secret) warnOfKeyFile(app, settings.secret.keyFile);
  for (const mount of [taskRoutes, deviceRoutes, successorRoutes, shotRoutes]) mount(context);
  if (unsafePaperMode) {
    const paperKeys = await PaperKeys.open({ store, vault, randomBytes });
    onClose(() => paperKeys.wipe());
    unsafePaperRoutes(context, paperKeys);
  }

  const tickFailed = (error: unknown): void => {
    metrics.count('basa_troubles_total', {});
    service.log.fault('the tick failed; it is tried again', error, 'error');
  };
  if (units.gone > 0)
    app.log.warn({ units: units.gone }, 'units were copied or torn, and are gone: uploads that name them are lost');
  service.check('database', { isNeeded: true, look: () => store.transaction((tables) => tables.now()) });
  await settleEpochs(context).catch(tickFailed);
  const url = await service.listen(settings.listen);
  const onTick = (): Promise<void> => tick(context);
  const ticker = startTicker(settings.tickMs, onTick, tickFailed);
  onClose(() => ticker.stop());
  return {
    app,
    url,
    publicKey: signer.publicKey,
    tick: onTick,
    drain: () => service.drain(),
  };
}

function warnOfKeyFile(app: ServiceApp, path: string): void {
  if (process.platform === 'win32' || (statSync(path).mode & 0o077) === 0) return;
  app.log.warn('other users can read the key file; run chmod 600');
}
