/** The tools of the routes of a server. */
import type { ServerPorts } from '@basa/protocol';
import { fail, hexText, type Service, Type } from '@basa/service';
import type { TaskLimits } from '../admission/task-limits.ts';
import { AuthorityRefusal, AuthorityUnreachable } from '../authority/authority-http.ts';
import type { AuthorityLinks } from '../authority/authority-links.ts';
import type { Revocations } from '../authority/revocations.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { BatchKeeper } from '../buffers/batch-keeper.ts';
import type { LiveTasks } from '../live/live-tasks.ts';
import type { Nodes } from '../nodes/nodes.ts';
import type { Store } from '../store/store.ts';
import type { RunningTask } from '../tasks/running-task.ts';
import type { TaskBook } from '../tasks/task-book.ts';
import type { Bodies } from '../uploads/bodies.ts';
import type { ServerWatch } from '../watch/server-watch.ts';

export interface RouteContext {
  readonly service: Service;
  readonly tasks: TaskBook;
  readonly bodies: Bodies;
  readonly batches: BatchKeeper;
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly ports: ServerPorts;
  readonly live: LiveTasks;
  readonly authorities: AuthorityLinks;
  readonly revocations: Revocations;
  readonly watch: ServerWatch;
  readonly clock: () => number;
  readonly taskLimits?: TaskLimits | undefined;
  readonly unsafePaperMode: boolean;
  readonly nodes: Nodes;
}

const ASK_AGAIN_MS = 2000;

export const taskParams = Type.Object({ task: hexText(32, 'the name of a task') });

export async function foundTask({ tasks }: RouteContext, name: string): Promise<RunningTask> {
  return (await tasks.meet(name)) ?? fail('task-unknown');
}

/** For work that needs the authority. If the authority cannot do it now, the answer says so, and when to ask again. */
export async function askingAuthority<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const isAuthoritys = error instanceof AuthorityUnreachable || error instanceof AuthorityRefusal;
    if (isAuthoritys) fail('authority-unreachable', { detail: error.message, retryAfterMs: ASK_AGAIN_MS });
    throw error;
  }
}
