/** The buffers or batches of a task in one line, and each of them when the line is opened. */
import type { LiveBuffer } from '@basa/protocol';
import { drawBuffers } from '../shared/buffer-view.ts';
import { element, say } from '../shared/dom.ts';
import { count, plural } from '../shared/format.ts';
import type { Watched } from '../shared/live.ts';

const MAX_ENDED = 4;
/** The server's code for "wait and ask again". */
export const QUEUED = 'no-place';

export function drawBufferCard(state: Watched): void {
  const { buffers, aheadMs, mode } = state;
  const isBatch = mode === 'one-shot';
  const options = { now: Date.now() + aheadMs, isBatch };
  const living = buffers.filter(isLiving);
  say(element('buffers-line'), bufferLine(living, isBatch));
  say(element('queue'), queueText(state));
  say(element('totals'), totalsText(state));
  if (isBatch) sayBatches();
  if (!element<HTMLDetailsElement>('buffers-more').open) return;
  const ended = buffers.filter((buffer) => !isLiving(buffer)).slice(0, MAX_ENDED);
  drawBuffers(element('living'), living, () => options);
  drawBuffers(element('ended'), ended, () => options);
  element('no-buffer').toggleAttribute('hidden', living.length > 0);
}

/** The one-shot mode has no slots and no keys from an authority. */
function sayBatches(): void {
  say(element('buffers-title'), 'Batches');
  say(element('no-buffer'), 'No upload is waiting. The next upload starts a batch.');
  for (const id of ['slots-hint', 'keys-hint']) element(id).hidden = true;
}

/** The server lists them from the oldest on. */
export function bufferLine(living: readonly LiveBuffer[], isBatch = false): string {
  const [one, more] = nounsOf(isBatch);
  const open = living.filter(({ status }) => status === 'filling');
  const closed = living.length - open.length;
  const [oldest] = open;
  const first =
    oldest === undefined
      ? `No ${one} is open`
      : `${plural(open.length, `open ${one}`, `open ${more}`)}, ${open.length === 1 ? '' : 'the oldest '}with ${count(oldest.accepted)} of ${count(oldest.bufferSize)} updates`;
  return closed === 0 ? first : `${first}; ${plural(closed, 'is', 'are')} being opened`;
}

/** Devices that train, devices that wait, and sums that are late. */
export function queueText({ admission, refusals, mode }: Pick<Watched, 'admission' | 'refusals' | 'mode'>): string {
  const { underWay, waiting, waitingBuffers } = admission;
  const [one, more] = nounsOf(mode === 'one-shot');
  const backlog =
    waitingBuffers === 0
      ? ''
      : ` ${plural(waitingBuffers, `closed ${one} waits`, `closed ${more} wait`)} to be opened.`;
  const turns = refusals[QUEUED] ?? 0;
  const queued =
    turns === 0
      ? ''
      : ` Since the server started, devices were asked ${plural(turns, 'time', 'times')} to wait for a place; they ask again by themselves.`;
  const now = `${underWay === 0 ? 'No device is training' : plural(underWay, 'device is training', 'devices are training')}, and ${waiting === 0 ? 'none is waiting' : plural(waiting, 'is waiting', 'are waiting')} for a place.`;
  return `${now}${backlog}${queued}`;
}

/** Explains two limits that look alike: places are for devices that train, a buffer is for finished updates. */
export function totalsText({ admission, buffers, mode }: Pick<Watched, 'admission' | 'buffers' | 'mode'>): string {
  const { places, used } = admission;
  const train = `${count(used)} of ${count(places)} places are taken: a device needs one to train, and may keep it until its update is in a sum.`;
  const size = buffers[0]?.bufferSize;
  const [noun] = nounsOf(mode === 'one-shot');
  return size === undefined ? train : `${train} A ${noun} collects finished updates, up to ${count(size)} for one sum.`;
}

function nounsOf(isBatch: boolean): readonly [one: string, more: string] {
  return isBatch ? ['batch', 'batches'] : ['buffer', 'buffers'];
}

function isLiving({ status }: LiveBuffer): boolean {
  return ['filling', 'frozen', 'granted', 'opened'].includes(status);
}
