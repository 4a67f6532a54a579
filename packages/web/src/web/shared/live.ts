/** The event stream of a task, reassembled: every version so far, and the newest of everything else. */
import { type LiveState, type LiveVersion, SERVER_PATH } from '@basa/protocol/http';

export interface Watched extends LiveState {
  /** The server's clock minus ours. */
  readonly aheadMs: number;
}

export interface LiveListener {
  onState(state: Watched): void;
  /** Tells whether the server can be reached; if not, the reason, if it gave one. */
  onLink(isThere: boolean, why?: string): void;
  /** The server shows this only to operators, and not to this one. */
  onRefused(): void;
}

const RETRY_MS = 1000;
/** After a server that has no room for another listener. */
const FULL_RETRY_MS = 10_000;

/** Reconnects automatically while the page is open. An EventSource would do this too, but it cannot send an operator's token. */
export async function watchTask(task: string, listener: LiveListener, operatorToken?: string): Promise<void> {
  const headers = operatorToken === undefined ? {} : { authorization: `Bearer ${operatorToken}` };
  for (;;) {
    let why: string | undefined;
    try {
      const answer = await fetch(SERVER_PATH.events(task), { headers, credentials: 'omit', cache: 'no-store' });
      if (answer.status === 401 || answer.status === 403) return listener.onRefused();
      if (answer.ok && answer.body !== null) await hear(answer.body, listener);
      else if (answer.status === 429) why = ((await answer.json()) as { readonly detail?: string }).detail;
    } catch {
      // After any failure the stream is tried again.
    }
    listener.onLink(false, why);
    await new Promise((resolve) => setTimeout(resolve, why === undefined ? RETRY_MS : FULL_RETRY_MS));
  }
}

async function hear(body: ReadableStream<Uint8Array>, { onState, onLink }: LiveListener): Promise<void> {
  const versions = new Map<number, LiveVersion>();
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  onLink(true);
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const messages = (text + value).split('\n\n');
    text = messages.pop() ?? '';
    for (const message of messages) {
      const data = /^data: (.*)$/m.exec(message)?.[1];
      if (data === undefined) continue; // a sign of life
      const state = JSON.parse(data) as LiveState;
      for (const version of state.versions) versions.set(version.version, version);
      const sorted = [...versions.values()].sort((a, b) => a.version - b.version);
      onState({ ...state, versions: sorted, aheadMs: state.at - Date.now() });
    }
  }
}
