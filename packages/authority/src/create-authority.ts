/** The authority as a service: opens its data folder, unlocks its keys, replays its log, meets its witness, and listens. */
import { isAbsolute, relative, resolve } from 'node:path';
import { createMclGroup } from '@basa/abe';
import type { RandomBytes } from '@basa/masking';
import type { BasaEvent } from '@basa/protocol';
import { millis } from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import type { Address, RateLimit, RunningService, Service, ServiceApp, ServiceOptions } from '@basa/service';
import { createService, StartError, TokenBuckets } from '@basa/service';
import { DurableAuthority } from './durable-authority.ts';
import { KeyEpochs } from './key-epochs.ts';
import { logEvent } from './log-event.ts';
import { bufferRoutes } from './routes/buffers.ts';
import { deviceRoutes } from './routes/devices.ts';
import { exchangeHeads } from './routes/heads.ts';
import { logRoutes } from './routes/log.ts';
import { unsafePaperRoutes } from './routes/paper.ts';
import { taskRoutes } from './routes/tasks.ts';
import { AuthorityStore } from './store.ts';
import { unlock } from './unlock.ts';
import type { Vault, VaultSecret } from './vault.ts';
import type { Witness } from './witness.ts';
import { fileWitness } from './witness.ts';

export interface AuthorityOptions {
  readonly dataFolder: string;
  /** What the keys at rest are sealed with. */
  readonly secret: VaultSecret;
  /** A path outside of the data folder, or a witness of your own; `<dataFolder>.witness` by default. */
  readonly witness?: string | Witness;
  readonly address?: Address;
  readonly service?: Omit<ServiceOptions, 'title' | 'audience' | 'clock'>;
  readonly epochMs?: number;
  readonly closedGraceMs?: number;
  readonly certificateMs?: number;
  readonly tickMs?: number;
  readonly keyLimit?: RateLimit;
  /** Mounts the routes of `paper` mode, which does not protect updates. */
  readonly unsafePaperMode?: boolean;
  readonly onEvent?: (event: BasaEvent) => void;
  readonly clock?: () => number;
  readonly randomBytes?: RandomBytes;
}

export interface Authority extends RunningService {
  readonly app: ServiceApp;
  readonly publicKey: Uint8Array;
  /** What the timer does: aborts overdue buffers, destroys the keys of epochs that are over. */
  tick(): void;
}

const DAY_MS = 86_400_000;
const DEFAULTS = {
  address: { host: '127.0.0.1', port: 0 },
  epochMs: DAY_MS,
  closedGraceMs: DAY_MS,
  certificateMs: 365 * DAY_MS,
  tickMs: 5000,
  keyLimit: { burst: 20, perSecond: 2 },
  unsafePaperMode: false,
  onEvent: (_: BasaEvent): void => {},
  clock: (): number => Date.now(),
  randomBytes: nodeRandomBytes as RandomBytes,
};

export async function createAuthority(options: AuthorityOptions): Promise<Authority> {
  const settings = { ...DEFAULTS, ...options };
  const { dataFolder, clock, randomBytes } = settings;
  const group = await createMclGroup();
  const { witness = `${resolve(dataFolder)}.witness` } = options;
  const keeper = typeof witness === 'string' ? fileWitness(witness) : witness;
  const store = new AuthorityStore(dataFolder);
  let epochs: KeyEpochs | undefined;
  let service: Service | undefined;
  try {
    const { vault, signer, isNew } = unlock(store, keeper, settings);
    epochs = new KeyEpochs({ store, vault, group, randomBytes });
    const log = { onEvent: settings.onEvent };
    const authority = new DurableAuthority({
      ...settings,
      store,
      signer,
      epochs,
      witness: keeper,
      onEvent: (event) => log.onEvent(event),
    });
    service = await createService({
      ...settings.service,
      title: 'BASA attribute authority',
      audience: signer.publicKey,
      clock,
    });
    const { app } = service;
    log.onEvent = (event) => {
      logEvent(app, event);
      settings.onEvent(event);
    };
    if (typeof witness === 'string') warnOfWitness(app, dataFolder, witness);
    meetWitness(authority, keeper, isNew);
    const enrolment = { store, authority, randomBytes, certificateMs: settings.certificateMs };
    const now = () => millis(clock());
    const tools = { service, authority, store, epochs, enrolment, keyLimits: new TokenBuckets(settings.keyLimit), now };
    exchangeHeads(tools);
    for (const mount of [taskRoutes, deviceRoutes, bufferRoutes, logRoutes]) mount(tools);
    if (settings.unsafePaperMode) unsafePaperRoutes(tools);

    const tick = (): void => {
      authority.tick(now());
      store.forgetTokens(now());
    };
    const url = await service.listen(settings.address);
    const timer = setInterval(() => {
      try {
        tick();
      } catch (error) {
        app.log.error({ err: error }, 'the tick failed; it is tried again');
      }
    }, settings.tickMs);
    return { app, url, publicKey: signer.publicKey, tick, close: () => closeAll(service, epochs, vault, store, timer) };
  } catch (error) {
    await service?.close();
    epochs?.wipe();
    store.close();
    throw error;
  }
}

async function closeAll(
  service: Service | undefined,
  epochs: KeyEpochs | undefined,
  vault: Vault,
  store: AuthorityStore,
  timer: NodeJS.Timeout,
): Promise<void> {
  clearInterval(timer);
  await service?.close();
  epochs?.wipe();
  vault.wipe();
  store.close();
}

function meetWitness(authority: DurableAuthority, witness: Witness, isNew: boolean): void {
  try {
    if (isNew) witness.write(authority.core.head());
    else authority.start();
  } catch (error) {
    const { code } = error as { readonly code?: string };
    if (code === undefined || !/^E[A-Z]+$/.test(code)) throw error;
    throw new StartError('dataFolder', `the witness cannot be written (${code}): check its path and permissions`);
  }
}

/** Whoever restores the folder from a snapshot restores what is inside it as well. */
function warnOfWitness(app: ServiceApp, dataFolder: string, path: string): void {
  const inside = relative(resolve(dataFolder), resolve(path));
  if (inside.startsWith('..') || isAbsolute(inside)) return;
  app.log.warn('the witness lies inside the data folder: a rolled-back folder would not be noticed at the start');
}
