/** The authority as a service: opens its data folder, unlocks its keys, replays its log, meets its witness, and listens. */
import { statSync } from 'node:fs';
import { isAbsolute, relative, resolve } from 'node:path';
import { createMclGroup } from '@basa/abe';
import type { RandomBytes } from '@basa/masking';
import type { BasaEvent, Millis } from '@basa/protocol';
import { millis } from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import type { Address, OnClose, RateLimit, RunningService, ServiceApp, ServiceOptions } from '@basa/service';
import { createService, isStorageFull, logEvent, opened, StartError, TokenBuckets } from '@basa/service';
import { DurableAuthority } from './durable-authority.ts';
import { KeyEpochs } from './key-epochs.ts';
import { bufferRoutes } from './routes/buffers.ts';
import { deviceRoutes } from './routes/devices.ts';
import { exchangeHeads } from './routes/heads.ts';
import { logRoutes } from './routes/log.ts';
import { unsafePaperRoutes } from './routes/paper.ts';
import { taskRoutes } from './routes/tasks.ts';
import { AuthorityStore } from './store.ts';
import { unlock } from './unlock.ts';
import type { VaultSecret } from './vault.ts';
import type { Witness } from './witness.ts';
import { fileWitness } from './witness.ts';

export interface AuthorityOptions extends Omit<ServiceOptions, 'title' | 'audience' | 'clock'> {
  readonly dataFolder: string;
  /** What the keys at rest are sealed with. */
  readonly secret: VaultSecret;
  /** A path outside of the data folder, or a witness of your own; `<dataFolder>.witness` by default. */
  readonly witness?: string | Witness;
  readonly listen?: Address;
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
  /** Open buffers, and closed ones whose sum may still become a model: all others are on disk alone. */
  buffersInMemory(): number;
}

const DAY_MS = 86_400_000;
const DEFAULTS = {
  listen: { host: '127.0.0.1', port: 0 },
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

export function createAuthority(options: AuthorityOptions): Promise<Authority> {
  return opened((onClose) => open({ ...DEFAULTS, ...options }, onClose));
}

async function open(settings: typeof DEFAULTS & AuthorityOptions, onClose: OnClose): Promise<Omit<Authority, 'close'>> {
  const { dataFolder, clock, randomBytes, witness: kept = `${resolve(dataFolder)}.witness` } = settings;
  const witness = typeof kept === 'string' ? fileWitness(kept) : kept;
  const group = await createMclGroup();
  const store = new AuthorityStore(dataFolder);
  onClose(() => store.close());
  const { vault, signer, isNew } = unlock(store, witness, settings);
  onClose(() => vault.wipe());
  const epochs = new KeyEpochs({ store, vault, group, randomBytes });
  onClose(() => epochs.wipe());
  const service = await createService({ ...settings, title: 'BASA attribute authority', audience: signer.publicKey });
  onClose(() => service.close());
  const { app } = service;
  const onEvent = (event: BasaEvent): void => {
    logEvent(app, event);
    settings.onEvent(event);
  };
  const authority = new DurableAuthority({ ...settings, store, signer, epochs, witness, onEvent });
  if (typeof kept === 'string') warnOfWitness(app, dataFolder, kept);
  if ('keyFile' in settings.secret) warnOfKeyFile(app, settings.secret.keyFile);
  meetWitness(authority, isNew);

  const now = (): Millis => millis(clock());
  const enrolment = { store, authority, randomBytes, certificateMs: settings.certificateMs };
  const tools = { service, authority, store, epochs, enrolment, keyLimits: new TokenBuckets(settings.keyLimit), now };
  exchangeHeads(tools);
  for (const mount of [taskRoutes, deviceRoutes, bufferRoutes, logRoutes]) mount(tools);
  if (settings.unsafePaperMode) unsafePaperRoutes(tools);

  const url = await service.listen(settings.listen);
  const tick = (): void => {
    authority.tick(now());
    store.forgetTokens(now());
  };
  const timer = setInterval(() => {
    try {
      tick();
    } catch (error) {
      app.log.error({ err: error }, 'the tick failed; it is tried again');
    }
  }, settings.tickMs);
  onClose(() => clearInterval(timer));
  const { core, directory } = authority;
  const buffersInMemory = (): number => Math.max(core.openBuffers, directory.unfinishedBuffers);
  return { app, url, publicKey: signer.publicKey, tick, buffersInMemory };
}

function meetWitness(authority: DurableAuthority, isNew: boolean): void {
  try {
    if (isNew) authority.startNew();
    else authority.start();
  } catch (error) {
    if (isStorageFull(error)) throw new StartError('storageFull', 'no space is left; free some and start again');
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

function warnOfKeyFile(app: ServiceApp, path: string): void {
  if (process.platform === 'win32' || (statSync(path).mode & 0o077) === 0) return;
  app.log.warn('the key file can be read by others than its owner: chmod 600');
}
