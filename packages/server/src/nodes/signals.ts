/** Signals between the nodes of one database, so that no node has to wait for its next look. */
import { fromHex, toHex } from '@basa/masking';
import type { Ctx, SumState, TaskId } from '@basa/protocol';
import { openSignals, type Signals } from '@basa/service';

export interface Telling {
  /** A task, or its newest model, has changed. */
  task(task: TaskId): void;
  buffer(sum: Pick<SumState, 'ctx' | 'task'>): void;
  /** An upload was accepted. */
  upload(task: TaskId, ctx: Ctx): void;
}

/** The actions of a node on signals of another one. */
export interface Listener {
  onTask(): Promise<void>;
  onBuffer(ctx: Ctx): Promise<void>;
  onUpload(task: string, ctx: Ctx): Promise<void>;
}

export interface NodeSignalsOptions {
  readonly url: string;
  readonly listener: Listener;
  onTrouble(what: string, error: unknown): void;
}

export interface NodeSignals extends Telling {
  close(): Promise<void>;
}

const CHANNEL = 'basa_server';

export function openNodeSignals({ url, listener, onTrouble }: NodeSignalsOptions): NodeSignals {
  const hear = async (word: string): Promise<void> => {
    const [kind, task = '', buffer] = word.split(' ');
    if (kind === 'task') return listener.onTask();
    const ctx = fromHex(buffer ?? '') as Ctx | undefined;
    if (ctx === undefined) return;
    await (kind === 'upload' ? listener.onUpload(task, ctx) : listener.onBuffer(ctx));
  };
  const refresh = (): void => {
    listener.onTask().catch((error: unknown) => onTrouble('the changes of other nodes could not be read', error));
  };
  const signals: Signals = openSignals({
    url,
    channel: CHANNEL,
    onWord: (word) => void hear(word).catch((error: unknown) => onTrouble('a message of another node', error)),
    onGap: refresh,
    onTrouble: (error) => onTrouble('messages of other nodes cannot be received; polling the database instead', error),
  });
  return {
    task: (task) => signals.tell(`task ${toHex(task)}`),
    buffer: ({ ctx, task }) => signals.tell(`buffer ${toHex(task)} ${toHex(ctx)}`),
    upload: (task, ctx) => signals.tell(`upload ${toHex(task)} ${toHex(ctx)}`),
    close: () => signals.close(),
  };
}
