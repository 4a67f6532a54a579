/** The records of a server, and the working parts over them: the links to the authorities, batches, tasks and uploads. */

import { type Suite, toHex } from '@basa/masking';
import type { ServerRole } from '@basa/protocol/one-shot';
import { nodeSuite } from '@basa/runtime/node';
import { countDatabase, ExpectedFault, type OnClose, StartError, watchProcess } from '@basa/service';
import { Places } from '../admission/places.ts';
import { AuthorityLink } from '../authority/authority-link.ts';
import { openBlobs } from '../blobs/place.ts';
import { bodyRows, withRows } from '../blobs/rows.ts';
import { startWorkers } from '../closing/opening.ts';
import { LiveTasks } from '../live/live-tasks.ts';
import { type Hear, Nodes } from '../nodes/nodes.ts';
import { Batches } from '../shots/batches.ts';
import type { ServerTools } from '../shots/context.ts';
import { type OpenedStore, openEmbeddedStore, openSharedStore } from '../store/open-store.ts';
import { TaskBook } from '../tasks/task-book.ts';
import { Bodies } from '../uploads/bodies.ts';
import type { OnEvent, ServerWatch } from '../watch/server-watch.ts';
import { blobPlaceOf, bodyPlaceOf, LEASE_MS, type Settings } from './config.ts';
import { serverGauges, taskLabel } from './gauges.ts';

export interface Core {
  readonly tools: ServerTools;
  readonly tasks: TaskBook;
  readonly bodies: Bodies;
  readonly live: LiveTasks;
  readonly hear: Hear;
}

interface Reports {
  readonly watch: ServerWatch;
  readonly onEvent: OnEvent;
  onTrouble(what: string, error: unknown): void;
}

const AUTHORITY_TIMEOUT_MS = 30_000;

export async function openCore(settings: Settings, reports: Reports, onClose: OnClose): Promise<Core> {
  const { dataFolder, database: shared, clock, fetch, taskBytes } = settings;
  const { watch, onEvent, onTrouble } = reports;
  const { metrics } = watch;
  const opened = await openStore(settings, reports);
  const { store, database } = opened;
  onClose(() => store.close());
  onClose(watchProcess(metrics, shared === undefined ? dataFolder : undefined));
  const ports: ServerRole.ServerPorts = { suite: rememberingSuite(nodeSuite), signer: await opened.signer() };
  const blobs = withRows(await openBlobs(blobPlaceOf(settings)), bodyRows(database));
  onClose(() => blobs.close());
  const placeTable = new Places(database);
  const leaseMs = shared?.leaseMs ?? LEASE_MS;
  const nodes = new Nodes({ store, placeTable, leaseMs, shared: shared && { url: shared.url }, onTrouble });
  const live = new LiveTasks(store, clock);
  const links = settings.authorities.map(
    ({ timeoutMs = AUTHORITY_TIMEOUT_MS, ...address }) =>
      new AuthorityLink({ ...address, timeoutMs, ports, fetch, onAsked: (asked) => watch.asked(asked) }),
  );
  const tools: ServerTools = {
    ...{ store, placeTable, blobs, links, ports, clock, taskBytes, nodes, ...reports },
    batches: new Batches({ store, ports, nodes, watch, onEvent, onChange: () => live.changed() }),
    pool: watch.timedPool(startWorkers(settings.workers, { bodies: bodyPlaceOf(settings) })),
  };
  const tasks = new TaskBook(tools);
  watch.labelOf = (task) => taskLabel(task, tasks.find(toHex(task)));
  serverGauges(metrics, () => tasks.all, clock);
  const hear: Hear = async (word, name) => {
    if (word === 'task') await tasks.refresh();
    else if (word === 'batch') live.changed();
    else tasks.find(name)?.uploadedElsewhere();
  };
  return { tools, tasks, bodies: new Bodies(tools), live, hear };
}

function openStore(settings: Settings, { watch, onTrouble }: Reports): Promise<OpenedStore> | OpenedStore {
  const { database, dataFolder, clock, unsafePaperMode } = settings;
  const counted = countDatabase(watch.metrics);
  if (database === undefined) return openEmbeddedStore(dataFolder, clock, counted);
  if (unsafePaperMode)
    throw new StartError('configuration', 'unsafePaperMode works only on a single server; remove databaseUrl');
  return openSharedStore(database, {
    ...counted,
    onTrouble: (error) => onTrouble('a database request is repeated', new ExpectedFault((error as Error).message)),
    onNotice: (words) => onTrouble('acknowledged data may be lost', new ExpectedFault(words)),
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
