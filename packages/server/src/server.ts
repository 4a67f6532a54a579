/** The server as one object: opens its data folder, takes its tasks up where they were, and serves them. */
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fromHex, toHex } from '@basa/masking';
import type { BasaEvent, ServerPorts } from '@basa/protocol';
import { extendLeases } from '@basa/protocol';
import { createNodeSigner, createWorkerPool, nodeRandomBytes, nodeSuite, workerModule } from '@basa/runtime/node';
import type { Address, ServiceOptions } from '@basa/service';
import { createService, openDatabase, StartError } from '@basa/service';
import { AuthorityLink } from './authority-link.ts';
import { openFileBlobs } from './blobs/files.ts';
import { BufferKeeper } from './buffer-keeper.ts';
import { mountRoutes } from './routes/mount.ts';
import { migrationsFor } from './store/schema.ts';
import { createSqlStore } from './store/sql-store.ts';
import { SQLITE, sqliteDatabase } from './store/sqlite.ts';
import { TaskBook } from './task-book.ts';
import { startTicker } from './ticker.ts';
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
  onEvent?(event: BasaEvent): void;
}

export interface RunningServer {
  readonly url: string;
  readonly publicKey: Uint8Array;
  close(): Promise<void>;
}

const KEY_FILE = 'server.key';
const ALIVE = 'alive-at';
const HEAD = 'authority-head';

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { dataFolder, authority, clock = Date.now, seatMs = 30_000, tickMs = 500, workers = 1 } = options;
  const opened = openDatabase(dataFolder, { application: 'server', migrations: migrationsFor(SQLITE) });
  const store = createSqlStore(sqliteDatabase(opened));
  try {
    const signer = createNodeSigner(await serverKey(dataFolder));
    const ports: ServerPorts = { suite: nodeSuite, signer, authorityKey: authority.publicKey };
    const blobFolder = join(dataFolder, 'blobs');
    const blobs = await openFileBlobs(blobFolder);
    const { onEvent: tell = () => undefined, ...rest } = options;
    const service = await createService({ ...rest, title: 'BASA server', audience: signer.publicKey, clock });
    const { log } = service.app;
    const onEvent = (event: BasaEvent): void => {
      log.info({ event: event.kind }, 'event');
      tell(event);
    };
    const head = await store.note(HEAD);
    const link = new AuthorityLink({
      url: authority.url,
      ports,
      timeoutMs: authority.timeoutMs ?? 30_000,
      fetch: options.fetch ?? fetch,
      head,
      keepHead: (bytes) => store.setNote(HEAD, bytes),
    });
    const pool = createWorkerPool<WorkTask, WorkResult>({
      ...workerModule(import.meta.url, './work/worker'),
      size: workers,
    });
    const keeper = new BufferKeeper({ store, ports, onEvent, onBuffer: (buffer) => tasks.track(buffer) });
    const tasks: TaskBook = new TaskBook({
      store,
      blobs,
      blobFolder,
      keeper,
      authority: link,
      ports,
      pool,
      clock,
      seatMs,
      onEvent,
      onTrouble: (what, error) => log.warn({ err: error }, what),
    });
    const uploads = new Uploads({ keeper, store, blobs, ports, clock });
    await tasks.open();
    await extendByDowntime(store, keeper, clock());
    const burntSlots = options.burntSlots ?? { most: 20, withinMs: 3_600_000 };
    mountRoutes({
      service,
      tasks,
      uploads,
      keeper,
      store,
      blobs,
      ports,
      clock,
      burntSlots,
      unsafePaperMode: options.unsafePaperMode ?? false,
    });
    const url = await service.listen(options.listen);
    const ticker = startTicker(
      tickMs,
      async () => {
        await store.setNote(ALIVE, timeBytes(clock()));
        await tasks.tick();
      },
      (error) => log.warn({ err: error }, 'a tick failed'),
    );
    return {
      url,
      publicKey: signer.publicKey,
      async close() {
        await service.close();
        await ticker.stop();
        await tasks.settle();
        await pool.close();
        await store.setNote(ALIVE, timeBytes(clock()));
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Nobody loses a lease by the time the server was down. */
async function extendByDowntime(
  store: ReturnType<typeof createSqlStore>,
  keeper: BufferKeeper,
  now: number,
): Promise<void> {
  const alive = await store.note(ALIVE);
  const downtimeMs = alive === undefined ? 0 : now - Number(new DataView(alive.slice().buffer).getBigUint64(0));
  for (const { ctx } of await store.livingBuffers()) {
    const buffer = await keeper.find(ctx);
    if (downtimeMs > 0 && buffer?.status === 'filling')
      await keeper.step(ctx, (found) => extendLeases(found, downtimeMs));
  }
}

function timeBytes(now: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(now));
  return bytes;
}

/** The signing key of the server, made at the first start: policies name its public half. */
async function serverKey(folder: string): Promise<Uint8Array> {
  const path = join(folder, KEY_FILE);
  await mkdir(folder, { recursive: true });
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) {
    const secret = nodeRandomBytes(32);
    await writeFile(path, `${toHex(secret)}\n`, { mode: 0o600, flag: 'wx', flush: true });
    return secret;
  }
  await chmod(path, 0o600);
  const secret = fromHex(text.trim());
  if (secret?.length !== 32) throw new StartError('keys', `${path} does not hold a key; restore it from a backup`);
  return secret;
}
