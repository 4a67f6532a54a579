/** A bar chart that is a table: screen readers read it, style sheets draw it. */
import { make, say } from './dom.ts';

export interface Bar {
  readonly label: string;
  readonly value: number;
  readonly text: string;
}

/** Rows of the table body are made again only if their labels change. */
export function drawBars(body: HTMLElement, bars: readonly Bar[], empty: string): void {
  const labels = bars.map(({ label }) => label).join('\n');
  if (body.dataset['labels'] !== labels) {
    body.dataset['labels'] = labels;
    body.replaceChildren(...(bars.length === 0 ? [emptyRow(empty)] : bars.map(newRow)));
  }
  const most = Math.max(...bars.map(({ value }) => value), Number.MIN_VALUE);
  for (const [n, { value, text }] of bars.entries()) {
    const row = body.children[n] as HTMLElement;
    row.style.setProperty('--share', String(value / most));
    say(row.querySelector('.value') as HTMLElement, text);
  }
}

function newRow({ label }: Bar): HTMLElement {
  const bar = make('span', { class: 'bar', 'aria-hidden': 'true' });
  return make('tr', {}, make('th', { scope: 'row' }, label), make('td', {}, bar, make('span', { class: 'value' })));
}

function emptyRow(text: string): HTMLElement {
  return make('tr', {}, make('td', { class: 'quiet', colspan: '2' }, text));
}
