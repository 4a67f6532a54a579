/** What the routes of a server work with. */
import { fromHex } from '@basa/masking';
import type { Ctx, SecureBuffer, ServerPorts } from '@basa/protocol';
import type { Service } from '@basa/service';
import { fail, hexText, Type } from '@basa/service';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { BufferKeeper } from '../buffer-keeper.ts';
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
  readonly clock: () => number;
  readonly burntSlots: { readonly most: number; readonly withinMs: number };
  readonly unsafePaperMode: boolean;
}

export const taskParams = Type.Object({ task: hexText(32, 'the name of a task') });
export const bufferParams = Type.Object({ ctx: hexText(32, 'the name of a buffer') });

export function foundTask({ tasks }: RouteContext, name: string): RunningTask {
  return tasks.find(name) ?? fail('task-unknown');
}

export async function foundBuffer({ keeper }: RouteContext, name: string): Promise<SecureBuffer> {
  return (await keeper.find(fromHex(name) as Ctx)) ?? fail('buffer-unknown');
}
