/** Shows a buffer as a row of slots, each with its step and the rest of its lease. A batch has no slots and is shown as a bar. */
import type { LiveBuffer, LiveSlot } from '@basa/protocol';
import { make, say } from './dom.ts';
import { short } from './format.ts';

const STATUS_TEXT: Readonly<Record<LiveBuffer['status'], string>> = {
  filling: 'filling',
  frozen: 'closing: waiting for the authority',
  granted: 'keys released: opening the sum',
  opened: 'open: waiting for its version',
  included: 'the sum is in the model',
  quarantined: 'quarantined',
  aborted: 'aborted',
  unknown: 'lost',
};
const SLOT_TEXT = { free: 'free', assigned: 'upload awaited', accepted: 'uploaded', dropped: 'dropped out' } as const;
const SLOT_SIGN = { free: '', assigned: '·', accepted: '✓', dropped: '×' } as const;
/** Below this, a device is late. */
const LATE_MS = 10_000;

export interface BufferViewOptions {
  readonly now: number;
  /** This tab's own slot. */
  readonly own?: number | undefined;
  /** One-shot mode. */
  readonly isBatch: boolean;
}

/** Draws buffers into a list, and changes only the elements that differ. */
export function drawBuffers(
  list: HTMLElement,
  buffers: readonly LiveBuffer[],
  options: (buffer: LiveBuffer) => BufferViewOptions,
): void {
  const known = new Map([...list.children].map((item) => [(item as HTMLElement).dataset['ctx'], item as HTMLElement]));
  const items = buffers.map((buffer) => {
    const shown = options(buffer);
    const item = known.get(buffer.ctx) ?? newItem(buffer, shown);
    updateItem(item, buffer, shown);
    return item;
  });
  if (items.length !== list.children.length || items.some((item, n) => list.children[n] !== item))
    list.replaceChildren(...items);
}

function newItem(buffer: LiveBuffer, { isBatch }: BufferViewOptions): HTMLElement {
  const head = make('p', { class: 'buffer-head' }, make('span', { class: 'name' }), make('span', { class: 'status' }));
  return make('li', { class: 'buffer', 'data-ctx': buffer.ctx }, head, isBatch ? newBar(buffer) : newSlots(buffer));
}

function newBar({ ctx, status, bufferSize }: LiveBuffer): HTMLElement {
  return make('progress', { max: String(bufferSize), 'aria-label': `uploads of the ${nameOf(ctx, status, true)}` });
}

function newSlots({ ctx, bufferSize }: LiveBuffer): HTMLElement {
  const cells = Array.from({ length: bufferSize }, (_, slot) =>
    make(
      'li',
      { class: 'slot', 'data-slot': String(slot) },
      make('span', { class: 'sign', 'aria-hidden': 'true' }),
      make('span', { class: 'lease', 'aria-hidden': 'true' }),
    ),
  );
  return make('ol', { class: 'slots', 'aria-label': `slots of buffer ${short(ctx)}` }, ...cells);
}

function updateItem(item: HTMLElement, buffer: LiveBuffer, { now, own, isBatch }: BufferViewOptions): void {
  const { accepted, ctx, status, bufferSize, minimum, slots, version } = buffer;
  item.dataset['status'] = status;
  say(
    item.querySelector('.name') as HTMLElement,
    `${nameOf(ctx, status, isBatch)} · for updates on version ${version}`,
  );
  const needed = status === 'filling' ? `, ${minimum} needed` : '';
  const progress = ` · ${accepted} of ${bufferSize} uploads${needed}`;
  const text = isBatch && status === 'granted' ? 'masks released: opening the sum' : STATUS_TEXT[status];
  say(item.querySelector('.status') as HTMLElement, text + progress);
  const bar = item.querySelector('progress');
  if (bar !== null) bar.value = accepted;
  for (const cell of item.querySelectorAll<HTMLElement>('.slot')) {
    const number = Number(cell.dataset['slot']);
    updateSlot(cell, slots[number], { now, isOwn: number === own, isOpen: status === 'filling' });
  }
}

/** A batch has no name before its list is fixed. */
function nameOf(ctx: string, status: LiveBuffer['status'], isBatch: boolean): string {
  if (!isBatch) return `buffer ${short(ctx)}`;
  return status === 'filling' ? 'next batch' : `batch ${short(ctx)}`;
}

function updateSlot(
  cell: HTMLElement,
  slot: LiveSlot | undefined,
  { now, isOwn, isOpen }: { readonly now: number; readonly isOwn: boolean; readonly isOpen: boolean },
): void {
  // A slot without an upload when the buffer freezes is left out: it counts as dropped, too.
  const status = slot?.status === 'assigned' && !isOpen ? 'dropped' : (slot?.status ?? 'free');
  const leftMs = status === 'assigned' && slot !== undefined ? Math.max(0, slot.deadline - now) : undefined;
  cell.dataset['status'] = status;
  cell.classList.toggle('own', isOwn);
  cell.classList.toggle('late', leftMs !== undefined && leftMs < LATE_MS);
  say(cell.querySelector('.sign') as HTMLElement, SLOT_SIGN[status]);
  say(cell.querySelector('.lease') as HTMLElement, leftMs === undefined ? '' : `${Math.ceil(leftMs / 1000)} s`);
  const label = `slot ${cell.dataset['slot']}: ${SLOT_TEXT[status]}${isOwn ? ', yours' : ''}`;
  if (cell.getAttribute('aria-label') !== label) cell.setAttribute('aria-label', label);
  cell.title = label;
}
