/**
 * Sends the state of a task to one listener as server-sent events, after each change but at most a few times per second. A listener that
 * does not read gets no more events and is soon disconnected.
 */
import type { ServerResponse } from 'node:http';
import { Live } from '@basa/protocol/http';
import { type LiveTasks, MIN_PAUSE_MS } from './live-tasks.ts';

/** No batch or request reports some changes: a state that an operator set, or a score that came later. */
const LOOK_MS = 2000;
/** Proxies end connections that are silent for long. */
const KEEP_ALIVE_MS = 15_000;

export interface StreamSource {
  readonly live: LiveTasks;
  versions(from: number): Promise<readonly Live.LiveVersion[]>;
  state(versions: readonly Live.LiveVersion[]): Promise<Live.LiveState>;
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
    from = told.find((version) => Live.shownScore(version) === undefined)?.version ?? told.at(-1)?.version ?? from;
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

const MAX_STREAMS = 200;
/** A class or an office behind one address; a page holds one stream. */
export const MAX_STREAMS_OF_NETWORK = 20;

interface Place {
  readonly network: string;
  readonly end: () => void;
}

/** Places at the event stream: each network has a few, and no network can keep the others out. */
export class StreamPlaces {
  readonly #maxStreams: number;
  /** The oldest one first. */
  readonly #taken = new Set<Place>();

  constructor(maxStreams: number = MAX_STREAMS) {
    this.#maxStreams = maxStreams;
  }

  /**
   * Tells whether a listener of this network may have a place. If all are taken, the network that has the most loses
   * its oldest one to a network that has fewer, even with the new one: so no network loses its only place.
   */
  makeRoom(network: string): 'free' | 'network-full' | 'all-full' {
    const own = this.#of(network).length;
    if (own >= MAX_STREAMS_OF_NETWORK) return 'network-full';
    if (this.#taken.size < this.#maxStreams) return 'free';
    const networks = new Set([...this.#taken].map((place) => place.network));
    const most = [...networks].map((name) => this.#of(name)).reduce((a, b) => (b.length > a.length ? b : a), []);
    const [oldest] = most;
    if (oldest === undefined || most.length <= own + 1) return 'all-full';
    this.#taken.delete(oldest);
    oldest.end();
    return 'free';
  }

  /** Takes a place; `end` is called when another listener gets it. Returns a function that gives it back. */
  take(network: string, end: () => void): () => void {
    const place = { network, end };
    this.#taken.add(place);
    return () => void this.#taken.delete(place);
  }

  endAll(): void {
    for (const { end } of this.#taken) end();
  }

  #of(network: string): readonly Place[] {
    return [...this.#taken].filter((place) => place.network === network);
  }
}
