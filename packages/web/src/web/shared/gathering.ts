/** What a task lacks for its next version. */
import type { Gathering, LiveState } from '@basa/protocol/http';

/** What the open batch on the newest version lacks; undefined if there is none, or if it has enough. */
export function gatheringOf({
  buffers,
  state,
  versions,
}: Pick<LiveState, 'buffers' | 'state' | 'versions'>): Gathering | undefined {
  const newest = versions.at(-1)?.version;
  const open = buffers.find(({ status, version }) => status === 'filling' && version === newest);
  const isShort = open !== undefined && open.accepted < open.minimum;
  if (!isShort || newest === undefined || state !== 'running') return undefined;
  return { have: open.accepted, least: open.minimum, version: newest + 1 };
}
