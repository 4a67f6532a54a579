/** The buffers of a task in one line; slot by slot where somebody wants to see them. */
import type { LiveBuffer } from '@basa/protocol';
import { drawBuffers } from '../shared/buffer-view.ts';
import { element, say } from '../shared/dom.ts';
import { count, plural } from '../shared/format.ts';
import type { Watched } from '../shared/live.ts';

const MAX_ENDED = 4;

export function drawBufferCard({ buffers, aheadMs }: Watched): void {
  const now = Date.now() + aheadMs;
  const living = buffers.filter(isLiving);
  say(element('buffers-line'), bufferLine(living));
  if (!element<HTMLDetailsElement>('buffers-more').open) return;
  const ended = buffers.filter((buffer) => !isLiving(buffer)).slice(0, MAX_ENDED);
  drawBuffers(element('living'), living, () => ({ now }));
  drawBuffers(element('ended'), ended, () => ({ now }));
  element('no-buffer').toggleAttribute('hidden', living.length > 0);
}

/** The server tells them from the oldest on. */
export function bufferLine(living: readonly LiveBuffer[]): string {
  const open = living.filter(({ status }) => status === 'filling');
  const closed = living.length - open.length;
  const [oldest] = open;
  const filled = oldest?.accepted ?? 0;
  const first =
    oldest === undefined ? 'none open' : `${count(open.length)} open, oldest ${filled} of ${oldest.bufferSize}`;
  return closed === 0 ? first : `${first}; ${plural(closed, 'is', 'are')} being opened`;
}

function isLiving({ status }: LiveBuffer): boolean {
  return ['filling', 'frozen', 'granted'].includes(status);
}
