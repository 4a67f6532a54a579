/** What the nodes of one database tell each other, so that nobody waits for the next look. */
import { fromHex, toHex } from '@basa/masking';
import type { Ctx, SecureBuffer, TaskId } from '@basa/protocol';
import type { Signals } from '@basa/service';
import { openSignals } from '@basa/service';
import type { BufferKeeper } from '../buffers/buffer-keeper.ts';
import type { LiveTasks } from '../live/live-tasks.ts';
import type { TaskBook } from '../tasks/task-book.ts';
import type { Turns } from './turns.ts';

export interface OtherNodesOptions {
  readonly url: string;
  readonly tasks: TaskBook;
  readonly keeper: BufferKeeper;
  readonly live: LiveTasks;
  readonly turns: Turns;
  onTrouble(what: string, error: unknown): void;
}

export interface OtherNodes {
  /** A task, or its newest model, has changed. */
  tellTask(task: TaskId): void;
  tellBuffer(buffer: SecureBuffer): void;
  tellUpload(task: TaskId, ctx: Ctx): void;
  close(): Promise<void>;
}

const CHANNEL = 'basa_server';

export function listenToOthers({ url, tasks, keeper, live, turns, onTrouble }: OtherNodesOptions): OtherNodes {
  const hear = async (word: string): Promise<void> => {
    const [kind, name = '', buffer] = word.split(' ');
    if (kind === 'task') return tasks.refresh();
    const ctx = fromHex(buffer ?? '') as Ctx | undefined;
    if (ctx === undefined) return;
    // Whoever watches sees it; whoever ends buffers looks whether it is time.
    const task = tasks.find(name);
    const isForUs = kind === 'upload' && task !== undefined && turns.has(task.task);
    if (isForUs || live.isWatched) await keeper.fresh(ctx);
    if (isForUs) task.uploaded(ctx);
  };
  const refresh = (): void => {
    tasks.refresh().catch((error: unknown) => onTrouble('what other nodes did could not be read', error));
  };
  const signals: Signals = openSignals({
    url,
    channel: CHANNEL,
    onWord: (word) => void hear(word).catch((error: unknown) => onTrouble('a word of another node', error)),
    onGap: refresh,
    onTrouble: (error) => onTrouble('the words of other nodes cannot be heard; looking every tick', error),
  });
  return {
    tellTask: (task) => signals.tell(`task ${toHex(task)}`),
    tellBuffer: ({ ctx, descriptor }) => signals.tell(`buffer ${toHex(descriptor.task)} ${toHex(ctx)}`),
    tellUpload: (task, ctx) => signals.tell(`upload ${toHex(task)} ${toHex(ctx)}`),
    close: () => signals.close(),
  };
}
