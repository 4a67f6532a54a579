/** What the routes of a server work with. */
import { fromHex } from '@basa/masking';
import type { Ctx, SecureBuffer, ServerPorts } from '@basa/protocol';
import type { Service } from '@basa/service';
import { fail, hexText, Type } from '@basa/service';
import { AuthorityRefusal, AuthorityUnreachable } from '../authority-link.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { BufferKeeper } from '../buffer-keeper.ts';
import type { LiveTasks } from '../live/live-tasks.ts';
import type { RunningTask } from '../running-task.ts';
import type { Store } from '../store/store.ts';
import type { TaskBook } from '../task-book.ts';
import type { Uploads } from '../uploads.ts';

export interface RouteContext {
  readonly service: Service;
  readonly tasks: TaskBook;
  readonly uploads: Uploads;
  readonly keeper: BufferKeeper;
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly ports: ServerPorts;
  readonly live: LiveTasks;
  readonly clock: () => number;
  readonly burntSlots: { readonly most: number; readonly withinMs: number };
  readonly unsafePaperMode: boolean;
}

const PAUSE_MS = 30_000;
const ASK_AGAIN_MS = 2000;

export const taskParams = Type.Object({ task: hexText(32, 'the name of a task') });
export const bufferParams = Type.Object({ ctx: hexText(32, 'the name of a buffer') });

export function foundTask({ tasks }: RouteContext, name: string): RunningTask {
  return tasks.find(name) ?? fail('task-unknown');
}

export async function foundBuffer({ keeper }: RouteContext, name: string): Promise<SecureBuffer> {
  return (await keeper.find(fromHex(name) as Ctx)) ?? fail('buffer-unknown');
}

/** No new seats for a task that is paused or has reached its end. */
export function checkRunning({ state, why }: RunningTask): void {
  if (state === 'paused') fail('task-paused', { retryAfterMs: PAUSE_MS });
  if (state === 'finished') fail('task-finished', why === undefined ? {} : { detail: why });
}

/** For work that needs the authority: what it cannot do now is told to whoever asked. */
export async function askingAuthority<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const isAuthoritys = error instanceof AuthorityUnreachable || error instanceof AuthorityRefusal;
    if (isAuthoritys) fail('authority-unreachable', { detail: error.message, retryAfterMs: ASK_AGAIN_MS });
    throw error;
  }
}
