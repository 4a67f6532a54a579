/**
 * Sends the state of a task to one listener as server-sent events, after each change but at most a few times per second. A listener that
 * does not read gets no more events and is soon disconnected.
 */
import type { ServerResponse } from 'node:http';
import { type LiveState, type LiveVersion, shownScore } from '@basa/protocol';
import type { LiveTasks } from './live-tasks.ts';

const MIN_PAUSE_MS = 200;
/** No buffer or request reports some changes: a state that an operator set, or a score that came later. */
const LOOK_MS = 2000;
/** Proxies end connections that are silent for long. */
const KEEP_ALIVE_MS = 15_000;

export interface StreamSource {
  readonly live: LiveTasks;
  versions(from: number): Promise<readonly LiveVersion[]>;
  state(versions: readonly LiveVersion[]): Promise<LiveState>;
}

/** Ends when the listener disconnects, or by the returned function. */
export function streamEvents(response: ServerResponse, { live, versions, state }: StreamSource): () => void {
  /** The first version whose score this listener does not know. */
  let from = 0;
  let last = '';
  let timer: NodeJS.Timeout | undefined;
  let isEnded = false;
  /** True if data was unread at the last keep-alive. */
  let isBehind = false;

  const send = async (): Promise<void> => {
    if (response.writableNeedDrain) return; // it gets the newest state once it has read
    const told = await versions(from);
    const { at, ...rest } = await state(told);
    const text = JSON.stringify(rest);
    if (isEnded || text === last) return;
    last = text;
    response.write(`event: state\ndata: ${JSON.stringify({ at, ...rest })}\n\n`);
    from = told.find((version) => shownScore(version) === undefined)?.version ?? told.at(-1)?.version ?? from;
  };
  const schedule = (): void => {
    timer ??= setTimeout(() => {
      send()
        .catch(end)
        .finally(() => {
          timer = undefined;
        });
    }, MIN_PAUSE_MS);
  };
  const end = (): void => {
    isEnded = true;
    clearTimeout(timer);
    clearInterval(alive);
    clearInterval(looks);
    forget();
    const { socket } = response;
    // A stop waits neither for unread data nor for an unused connection.
    if (response.writableNeedDrain) socket?.destroy();
    else response.end(() => socket?.destroy());
  };
  const forget = live.onChange(schedule);
  const looks = setInterval(schedule, LOOK_MS);
  const alive = setInterval(() => {
    const wasBehind = isBehind;
    isBehind = response.writableNeedDrain;
    if (wasBehind && isBehind) end();
    else if (!isBehind) response.write(':\n\n');
  }, KEEP_ALIVE_MS);
  response.once('close', end);
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    connection: 'close', // nothing follows: a stop need not wait for the connection
    'x-content-type-options': 'nosniff',
  });
  send().catch(end);
  return end;
}
