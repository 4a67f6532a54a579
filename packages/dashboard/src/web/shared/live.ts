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
}

/** Reconnects by itself; returns what ends it. */
export function watchTask(task: string, { onState, onLink }: LiveListener): () => void {
  const source = new EventSource(SERVER_PATH.events(task));
  let versions = new Map<number, LiveVersion>();
  source.addEventListener('open', () => {
    versions = new Map();
    onLink(true);
  });
  source.addEventListener('error', () => onLink(false));
  source.addEventListener('state', ({ data }: MessageEvent<string>) => {
    const state = JSON.parse(data) as LiveState;
    for (const version of state.versions) versions.set(version.version, version);
    const sorted = [...versions.values()].sort((a, b) => a.version - b.version);
    onState({ ...state, versions: sorted, aheadMs: state.at - Date.now() });
  });
  return () => source.close();
}
