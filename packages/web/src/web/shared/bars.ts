/** A bar chart that is a table: screen readers read it, style sheets draw it. */
import { make, say } from './dom.ts';

export interface Bar {
  readonly label: string;
  readonly value: number;
  readonly text: string;
  /** Half of the length of its error bar. */
  readonly error?: number;
}

/** Rows of the table body are made again only if their labels change. */
export function drawBars(body: HTMLElement, bars: readonly Bar[], empty: string): void {
  const labels = bars.map(({ label }) => label).join('\n');
  if (body.dataset['labels'] !== labels) {
    body.dataset['labels'] = labels;
    body.replaceChildren(...(bars.length === 0 ? [emptyRow(empty)] : bars.map(newRow)));
  }
  const most = Math.max(...bars.map(({ value, error = 0 }) => value + error), Number.MIN_VALUE);
  const share = (value: number): string => String(Math.max(0, value) / most);
  for (const [n, { value, text, error }] of bars.entries()) {
    const row = body.children[n] as HTMLElement;
    row.style.setProperty('--share', share(value));
    row.classList.toggle('with-error', error !== undefined);
    row.style.setProperty('--low', share(value - (error ?? 0)));
    row.style.setProperty('--high', share(value + (error ?? 0)));
    say(row.querySelector('.value') as HTMLElement, text);
  }
}

function newRow({ label }: Bar): HTMLElement {
  const bar = make('span', { class: 'bar', 'aria-hidden': 'true' });
  const error = make('span', { class: 'error-bar', 'aria-hidden': 'true' });
  const value = make('span', { class: 'value' });
  return make('tr', {}, make('th', { scope: 'row' }, label), make('td', {}, bar, error, value));
}

function emptyRow(text: string): HTMLElement {
  return make('tr', {}, make('td', { class: 'quiet', colspan: '2' }, text));
}
