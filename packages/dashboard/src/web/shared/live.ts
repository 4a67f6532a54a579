/** The event stream of a task, put together again: every version it told so far, and the newest of everything else. */
import type { LiveState, LiveVersion } from '@basa/protocol';
import { SERVER_PATH } from '@basa/protocol';

export interface Watched extends LiveState {
  /** The server's clock less ours. */
  readonly aheadMs: number;
}

export interface LiveListener {
  onState(state: Watched): void;
  /** Whether the server can be heard. */
  onLink(isThere: boolean): void;
  /** The server shows this to operators alone, and not to this one. */
  onRefused(): void;
}

const RETRY_MS = 1000;

/**
 * Connects again by itself, for as long as the page is there. An EventSource would do so too, but sends no operator's token.
 */
export async function watchTask(task: string, listener: LiveListener, operatorToken?: string): Promise<void> {
  const headers = operatorToken === undefined ? {} : { authorization: `Bearer ${operatorToken}` };
  for (;;) {
    try {
      const answer = await fetch(SERVER_PATH.events(task), { headers, credentials: 'omit', cache: 'no-store' });
      if (answer.status === 401 || answer.status === 403) return listener.onRefused();
      if (answer.ok && answer.body !== null) await hear(answer.body, listener);
    } catch {
      // Whatever broke the stream, it is tried again.
    }
    listener.onLink(false);
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
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
