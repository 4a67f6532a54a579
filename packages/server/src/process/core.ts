/** The working parts of a server over its records: the links to the authorities, batches, tasks and uploads. */
import type { BasaEvent, ServerPorts } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { AuthorityLink } from '../authority/authority-link.ts';
import { AuthorityLinks } from '../authority/authority-links.ts';
import { Revocations } from '../authority/revocations.ts';
import { BatchKeeper } from '../buffers/batch-keeper.ts';
import { startWorkers } from '../closing/worker-pool.ts';
import type { LiveTasks } from '../live/live-tasks.ts';
import type { Listener } from '../nodes/signals.ts';
import { TaskBook } from '../tasks/task-book.ts';
import type { TaskTools } from '../tasks/task-tools.ts';
import { Bodies } from '../uploads/bodies.ts';
import { openPieces } from '../uploads/pieces.ts';
import type { ServerWatch } from '../watch/server-watch.ts';
import type { Records } from './records.ts';
import { rememberingSuite } from './remembering-suite.ts';
import { type AuthorityAddress, bodyPlaceOf, type Settings } from './settings.ts';

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
