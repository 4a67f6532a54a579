/** Shows each batch with its status and a bar of its uploads. */
import type { LiveBatch } from '@basa/protocol/http';
import { make, say } from './dom.ts';
import { short } from './format.ts';

const STATUS_TEXT: Readonly<Record<LiveBatch['status'], string>> = {
  filling: 'filling',
  frozen: 'closing: waiting for the authority',
  granted: 'masks released: opening the sum',
  opened: 'open: waiting for its version',
  included: 'the sum is in the model',
  quarantined: 'quarantined',
  aborted: 'aborted',
  unknown: 'lost',
};

/** Draws batches into a list, and changes only the elements that differ. */
export function drawBatches(list: HTMLElement, batches: readonly LiveBatch[]): void {
  const known = new Map([...list.children].map((item) => [(item as HTMLElement).dataset['ctx'], item as HTMLElement]));
  const items = batches.map((batch) => {
    const item = known.get(batch.ctx) ?? newItem(batch);
    updateItem(item, batch);
    return item;
  });
  if (items.length !== list.children.length || items.some((item, n) => list.children[n] !== item))
    list.replaceChildren(...items);
}

function newItem({ ctx, status, bufferSize }: LiveBatch): HTMLElement {
  const head = make('p', { class: 'batch-head' }, make('span', { class: 'name' }), make('span', { class: 'status' }));
  const bar = make('progress', { max: String(bufferSize), 'aria-label': `uploads of the ${nameOf(ctx, status)}` });
  return make('li', { class: 'batch', 'data-ctx': ctx }, head, bar);
}

function updateItem(item: HTMLElement, { accepted, ctx, status, bufferSize, minimum, version }: LiveBatch): void {
  item.dataset['status'] = status;
  say(item.querySelector('.name') as HTMLElement, `${nameOf(ctx, status)} · for updates on version ${version}`);
  const needed = status === 'filling' ? `, ${minimum} needed` : '';
  const progress = ` · ${accepted} of ${bufferSize} uploads${needed}`;
  say(item.querySelector('.status') as HTMLElement, STATUS_TEXT[status] + progress);
  (item.querySelector('progress') as HTMLProgressElement).value = accepted;
}

/** A batch has no name before its list is fixed. */
function nameOf(ctx: string, status: LiveBatch['status']): string {
  return status === 'filling' ? 'next batch' : `batch ${short(ctx)}`;
}
