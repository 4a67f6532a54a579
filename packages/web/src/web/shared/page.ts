/** What the pages share: elements, words that they explain, pins in the address, tables of bars, the state of batches. */
import type { Live } from '@basa/protocol/http';
import type { Sealing } from '@basa/protocol/policy';
import { short } from './format.ts';

/** The element with this id; pages are written together with their scripts, so a missing one is a mistake. */
export function element<Kind extends Element = HTMLElement>(id: string): Kind {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no element ${id}`);
  return found as Element as Kind;
}

type Content = Node | string;

export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>> = {},
  ...content: readonly Content[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...content);
  return made;
}

/** Writes only changed text: assistive technology reads a live region again when it is touched. */
export function say(target: HTMLElement, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}

const WORDS = {
  accuracy:
    'The quality of the newest version on test examples: the share that it gets right, or, for numbers, R2, the share of the variance that it explains. Only the server has these examples.',
  version: 'The number of the current model. Each opened sum makes the next version.',
  update:
    'The change of the model that one device proposes after training on its own data. The device sends it masked.',
  places:
    'The number of devices that may train at the same time. With more places, versions come faster but updates are older.',
  age: 'The number of newer versions that were made while the devices prepared the updates of a sum. Usually, all updates of a sum are of one version. 0 means that they are up to date.',
  batch: 'A group of updates that are added together. After the group is closed, only its sum can be opened.',
  mode: 'In one-shot mode, a device sends one message, for every size of the sum. “paper” is the protocol as it was published: devices take turns, and the server can learn single updates.',
  'one-shot':
    'A device masks its update, encrypts the secret of the mask for the authorities, and sends both to the server in one message. The authorities release only the sum of the masks of a whole group.',
  sealing:
    'The encryption of the seeds of the masks, which devices send to the authorities. With ML-KEM-768, uploads that are recorded today cannot be opened later with a quantum computer.',
  refusal: 'Requests that the server refused, by their reason. Devices that wait for a place are not counted here.',
  authority: 'The second, independent party. It releases the sum of the masks of a batch, and never sees an update.',
  token:
    'A one-time password for one device, from the application that knows it. A device that has joined before needs no token.',
  loss: 'The error of the model on the examples of this device during its training. Lower is better.',
  metric:
    'Numbers that devices send under the same masks, such as their training loss. The server opens only sums over whole groups. One lying device can set that mean to any value in its range.',
  noise:
    'Random numbers that the devices or the authority add to each sum, so that it says less about a single device. “Blur” has no budget. A private task has one, and an epsilon.',
  epsilon:
    'The most that the sums can reveal about one device. Every noisy sum that contains its update adds to it. Smaller values are more private.',
  pin: 'A pinned key is one that this device trusts, even if a server claims another one. It comes in the link from the operator.',
  staleness:
    'The number of versions between the download of the model and the use of the update. Old updates count less.',
} as const;

/** The sealing of a task, in words. */
export const SEALING_WORDS: Readonly<Record<Sealing, { readonly name: string; readonly sentence: string }>> = {
  x25519: {
    name: 'X25519',
    sentence: 'The seeds of your masks are encrypted with X25519, which a future quantum computer could break.',
  },
  'x25519+mlkem768': {
    name: 'X25519 and ML-KEM-768',
    sentence:
      'The seeds of your masks are encrypted with X25519 and ML-KEM-768, and stay secret as long as one of the two is unbroken.',
  },
};

/** Every element with `data-word` gets an explanation next to it. */
function explainWords(): void {
  for (const [n, button] of [...document.querySelectorAll<HTMLElement>('[data-word]')].entries()) explain(button, n);
  document.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') for (const shown of document.querySelectorAll<HTMLElement>('.explained')) shown.hidden = true;
  });
}

function explain(button: HTMLElement, n: number): void {
  const text = WORDS[button.dataset['word'] as keyof typeof WORDS];
  if (text === undefined) throw new Error(`no word ${button.dataset['word']}`);
  const tip = make(
    'span',
    { class: 'explained', role: 'tooltip', id: `word-${n}`, hidden: '' },
    make('span', {}, text),
  );
  const place = make('span', { class: 'word-place' });
  button.replaceWith(place);
  place.append(button, tip);
  button.setAttribute('aria-describedby', tip.id);
  const show = (isShown: boolean) => () => {
    tip.hidden = !isShown;
    if (isShown) moveBeside(tip, button);
  };
  // The explanation is inside the same element, so the pointer may move onto it.
  place.addEventListener('pointerenter', show(true));
  place.addEventListener('pointerleave', show(false));
  button.addEventListener('focus', show(true));
  button.addEventListener('blur', show(false));
}

/** Below the word, or above if there is no room; never beyond the window. */
function moveBeside(tip: HTMLElement, button: HTMLElement): void {
  const [word, { width, height }] = [button.getBoundingClientRect(), tip.getBoundingClientRect()];
  const { clientWidth, clientHeight } = document.documentElement;
  tip.style.left = `${Math.max(0, Math.min(word.left - 8, clientWidth - width))}px`;
  tip.style.top = `${word.bottom + height > clientHeight ? Math.max(0, word.top - height) : word.bottom}px`;
}

/** The task, key and share that a link is for; settings of a device in this tab are not passed on. */
const CARRIED = ['task', 'authorityKey', 'share'] as const;

/**
 * The part of the address after the #, which a browser sends to no server. Before `startPage` it still has the token of
 * the link.
 */
export function fragment(): URLSearchParams {
  return new URLSearchParams(location.hash.slice(1));
}

export function startPage(): void {
  dropToken();
  carryPins();
  explainWords();
  // The # of the address is in use: it cannot name a place on the page as well.
  document.querySelector('.skip')?.addEventListener('click', (event) => {
    event.preventDefault();
    element('main').tabIndex = -1;
    element('main').focus();
  });
  window.addEventListener('hashchange', () => location.reload());
}

/** Shows whether the server can be reached, and if not, the reason. */
export function showLink(isThere: boolean, why?: string): void {
  element('link').hidden = isThere;
  say(element('link-why'), why === undefined ? 'The server does not answer' : `There are no live updates: ${why}`);
}

/** Another task keeps the authority's key. */
export function addressOfTask(task: string): string {
  const pins = fragment();
  pins.set('task', task);
  return `#${pins}`;
}

/** A token admits a device: it must not stay in the address, the history of the tab, or links, for the next person to find. */
function dropToken(): void {
  const pins = fragment();
  if (!pins.has('token')) return;
  pins.delete('token');
  history.replaceState(history.state, '', `#${pins}`);
}

function carryPins(): void {
  const pins = fragment();
  for (const name of [...pins.keys()]) if (!CARRIED.some((carried) => carried === name)) pins.delete(name);
  for (const link of document.querySelectorAll<HTMLAnchorElement>('nav a')) link.hash = pins.toString();
}

interface Bar {
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

const STATUS_TEXT: Readonly<Record<Live.LiveBatch['status'], string>> = {
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
export function drawBatches(list: HTMLElement, batches: readonly Live.LiveBatch[]): void {
  const known = new Map([...list.children].map((item) => [(item as HTMLElement).dataset['ctx'], item as HTMLElement]));
  const items = batches.map((batch) => {
    const item = known.get(batch.ctx) ?? newItem(batch);
    updateItem(item, batch);
    return item;
  });
  if (items.length !== list.children.length || items.some((item, n) => list.children[n] !== item))
    list.replaceChildren(...items);
}

function newItem({ ctx, status, bufferSize }: Live.LiveBatch): HTMLElement {
  const head = make('p', { class: 'batch-head' }, make('span', { class: 'name' }), make('span', { class: 'status' }));
  const bar = make('progress', { max: String(bufferSize), 'aria-label': `uploads of the ${nameOf(ctx, status)}` });
  return make('li', { class: 'batch', 'data-ctx': ctx }, head, bar);
}

function updateItem(item: HTMLElement, { accepted, ctx, status, bufferSize, minimum, version }: Live.LiveBatch): void {
  item.dataset['status'] = status;
  say(item.querySelector('.name') as HTMLElement, `${nameOf(ctx, status)} · for updates on version ${version}`);
  const needed = status === 'filling' ? `, ${minimum} needed` : '';
  const progress = ` · ${accepted} of ${bufferSize} uploads${needed}`;
  say(item.querySelector('.status') as HTMLElement, STATUS_TEXT[status] + progress);
  (item.querySelector('progress') as HTMLProgressElement).value = accepted;
}

/** A batch has no name before its list is fixed. */
function nameOf(ctx: string, status: Live.LiveBatch['status']): string {
  return status === 'filling' ? 'next batch' : `batch ${short(ctx)}`;
}
