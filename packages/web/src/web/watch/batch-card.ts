/** The batches of a task in one line, and each of them when the line is opened. */
import type { LiveBatch } from '@basa/protocol/http';
import { drawBatches } from '../shared/batch-view.ts';
import { element, say } from '../shared/dom.ts';
import { count, plural } from '../shared/format.ts';
import type { Watched } from '../shared/live.ts';

const MAX_ENDED = 4;
/** The server's code for "wait and ask again". */
export const QUEUED = 'no-place';

export function drawBatchCard(state: Watched): void {
  // In paper mode, devices take the positions of one buffer in turn, and ask for no places. Reports need none.
  element('batches-card').hidden = state.mode === 'paper' || state.windows !== undefined;
  const { buffers } = state;
  const living = buffers.filter(isLiving);
  say(element('batches-line'), batchLine(living));
  say(element('queue'), queueText(state));
  say(element('totals'), totalsText(state));
  if (!element<HTMLDetailsElement>('batches-more').open) return;
  const ended = buffers.filter((batch) => !isLiving(batch)).slice(0, MAX_ENDED);
  drawBatches(element('living'), living);
  drawBatches(element('ended'), ended);
  element('no-batch').toggleAttribute('hidden', living.length > 0);
}

/** The server lists them from the oldest on. */
export function batchLine(living: readonly LiveBatch[]): string {
  const open = living.filter(({ status }) => status === 'filling');
  const closed = living.length - open.length;
  const [oldest] = open;
  const first =
    oldest === undefined
      ? 'No batch is open'
      : `${plural(open.length, 'open batch', 'open batches')}, ${open.length === 1 ? '' : 'the oldest '}with ${count(oldest.accepted)} of ${count(oldest.bufferSize)} updates`;
  return closed === 0 ? first : `${first}; ${plural(closed, 'is', 'are')} being opened`;
}

/** Devices that train, devices that wait, and sums that are late. */
export function queueText({ admission, refusals }: Pick<Watched, 'admission' | 'refusals'>): string {
  const { underWay, waiting, waitingBatches } = admission;
  const backlog =
    waitingBatches === 0 ? '' : ` ${plural(waitingBatches, 'closed batch waits', 'closed batches wait')} to be opened.`;
  const turns = refusals[QUEUED] ?? 0;
  const queued =
    turns === 0
      ? ''
      : ` Since the server started, devices were asked ${plural(turns, 'time', 'times')} to wait for a place; they ask again by themselves.`;
  const now = `${underWay === 0 ? 'No device is training' : plural(underWay, 'device is training', 'devices are training')}, and ${waiting === 0 ? 'none is waiting' : plural(waiting, 'is waiting', 'are waiting')} for a place.`;
  return `${now}${backlog}${queued}`;
}

/** Explains two limits that look alike: places are for devices that train, a batch is for finished updates. */
export function totalsText({ admission, buffers }: Pick<Watched, 'admission' | 'buffers'>): string {
  const { places, used } = admission;
  const train = `${count(used)} of ${count(places)} places are taken: a device needs one to train, and may keep it until its update is in a sum.`;
  const size = buffers[0]?.bufferSize;
  return size === undefined ? train : `${train} A batch collects finished updates, up to ${count(size)} for one sum.`;
}

function isLiving({ status }: LiveBatch): boolean {
  return ['filling', 'frozen', 'granted', 'opened'].includes(status);
}
