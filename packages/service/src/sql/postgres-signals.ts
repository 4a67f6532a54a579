/**
 * Signals between the nodes of one database (LISTEN, NOTIFY), over a connection of their own and after the commits they
 * report: a notification inside a transaction would make commits wait for each other. Best effort: listeners also check
 * by themselves now and then, and after the connection was lost.
 */
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';

export interface SignalsOptions {
  readonly url: string;
  readonly channel: string;
  /** Called for a word from another node. */
  onWord(word: string): void;
  /** Called when words may have been missed. */
  onGap(): void;
  onTrouble(error: unknown): void;
}

export interface Signals {
  /** Sends soon, many words together. */
  tell(word: string): void;
  close(): Promise<void>;
}

const GATHER_MS = 10;
const LONGEST_WAIT_MS = 5_000;

export function openSignals({ url, channel, onWord, onGap, onTrouble }: SignalsOptions): Signals {
  const ending = new AbortController();
  const { signal } = ending;
  const words = new Set<string>();
  let client: pg.Client | undefined;
  let gathering: NodeJS.Timeout | undefined;
  let isSending = false;

  const connected = async (): Promise<void> => {
    const next = new pg.Client({ connectionString: url, application_name: 'basa-signals', keepAlive: true });
    const lost = new Promise<void>((resolve) => {
      next.once('end', resolve);
      next.on('error', onTrouble);
    });
    try {
      await next.connect();
      const { rows } = await next.query('SELECT pg_backend_pid() AS self');
      const { self } = rows[0] as { readonly self: number };
      next.on('notification', ({ processId, payload }) => {
        if (processId !== self && payload !== undefined) onWord(payload);
      });
      await next.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
      if (signal.aborted) return; // nobody else would end this connection
      client = next;
      onGap();
      if (words.size > 0) void send();
      await lost;
    } finally {
      if (client === next) client = undefined;
      await next.end().catch(() => undefined);
    }
  };
  const listening = (async () => {
    for (let tries = 0; !signal.aborted; tries++) {
      const since = Date.now();
      await connected().catch(onTrouble);
      if (Date.now() - since > LONGEST_WAIT_MS) tries = 0;
      const pause = Math.min(LONGEST_WAIT_MS, 50 * 2 ** tries);
      await wait(pause, undefined, { signal }).catch(() => undefined);
    }
  })();

  const send = async (): Promise<void> => {
    gathering = undefined;
    if (isSending || client === undefined) return; // sent once there is a connection again
    isSending = true;
    const some = [...words];
    words.clear();
    try {
      await client.query('SELECT pg_notify($1, word) FROM unnest($2::text[]) AS word', [channel, some]);
    } catch (error) {
      onTrouble(error);
    } finally {
      isSending = false;
      if (words.size > 0) schedule();
    }
  };
  const schedule = (): void => {
    gathering ??= setTimeout(() => void send(), GATHER_MS);
  };
  return {
    tell(word) {
      if (signal.aborted) return;
      words.add(word);
      schedule();
    },
    async close() {
      ending.abort();
      clearTimeout(gathering);
      await client?.end().catch(() => undefined);
      await listening;
    },
  };
}
