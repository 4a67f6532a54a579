/** The buffers or batches of a task in one line; one by one where somebody wants to see them. */
import type { LiveBuffer } from '@basa/protocol';
import { drawBuffers } from '../shared/buffer-view.ts';
import { element, say } from '../shared/dom.ts';
import { count, plural } from '../shared/format.ts';
import type { Watched } from '../shared/live.ts';

const MAX_ENDED = 4;

export function drawBufferCard({ buffers, aheadMs, mode }: Watched): void {
  const options = { now: Date.now() + aheadMs, isBatch: mode === 'one-shot' };
  const living = buffers.filter(isLiving);
  say(element('buffers-line'), bufferLine(living));
  if (!element<HTMLDetailsElement>('buffers-more').open) return;
  const ended = buffers.filter((buffer) => !isLiving(buffer)).slice(0, MAX_ENDED);
  drawBuffers(element('living'), living, () => options);
  drawBuffers(element('ended'), ended, () => options);
  element('no-buffer').toggleAttribute('hidden', living.length > 0);
}

/** The server tells them from the oldest on. */
export function bufferLine(living: readonly LiveBuffer[]): string {
  const open = living.filter(({ status }) => status === 'filling');
  const closed = living.length - open.length;
  const [oldest] = open;
  const first =
    oldest === undefined
      ? 'none open'
      : `${count(open.length)} open, oldest ${count(oldest.accepted)} of ${count(oldest.bufferSize)}`;
  return closed === 0 ? first : `${first}; ${plural(closed, 'is', 'are')} being opened`;
}

function isLiving({ status }: LiveBuffer): boolean {
  return ['filling', 'frozen', 'granted', 'opened'].includes(status);
}
