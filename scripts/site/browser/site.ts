/** In the reader's browser: the theme, the menu on small screens, and the search. */
import type { Place } from '../search-index.ts';

const MAX_FOUND = 12;
const THEME = 'basa-theme';
const places = (): readonly Place[] | undefined => (globalThis as { basaPlaces?: readonly Place[] }).basaPlaces;

const chosen = localStorage.getItem(THEME);
if (chosen !== null) document.documentElement.dataset['theme'] = chosen;

document.addEventListener('DOMContentLoaded', () => {
  element('theme').addEventListener('click', switchTheme);
  element('menu').addEventListener('click', ({ currentTarget }) => {
    const isOpen = document.body.classList.toggle('menu-open');
    (currentTarget as HTMLElement).setAttribute('aria-expanded', `${isOpen}`);
  });
  const input = element('search') as HTMLInputElement;
  input.addEventListener('focus', loadPlaces, { once: true });
  input.addEventListener('input', () => show(input.value));
  input.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') show('');
    if (key === 'Enter') element('found').querySelector('a')?.click();
  });
});

function switchTheme(): void {
  const { dataset } = document.documentElement;
  const now = dataset['theme'] ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  dataset['theme'] = now === 'dark' ? 'light' : 'dark';
  localStorage.setItem(THEME, dataset['theme']);
}

/** A script, not a request: it also works where the site is a folder on disk. */
function loadPlaces(): void {
  const script = document.createElement('script');
  script.src = `${document.body.dataset['up']}search.js`;
  script.addEventListener('load', () => show((element('search') as HTMLInputElement).value));
  document.head.append(script);
}

function show(text: string): void {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const list = element('found');
  list.replaceChildren(...find(words).map(row));
  list.hidden = words.length === 0 || list.childElementCount === 0;
}

/** Places that hold every word, best first; of two that are equal, the one that explains stands before the one that declares. */
function find(words: readonly string[]): readonly Place[] {
  if (words.length === 0) return [];
  const scored = (places() ?? []).flatMap((place) => {
    const scores = words.map((word) => scoreOf(place, word));
    const penalty = place[0].startsWith('api/') ? 1 : 0;
    return scores.includes(0) ? [] : [{ place, score: scores.reduce((sum, one) => sum + one, -penalty) }];
  });
  return scored
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_FOUND)
    .map(({ place }) => place);
}

/** A heading counts more than text, and a word by itself more than its beginning, which counts more than a part of it. */
function scoreOf([, page, heading, rest]: Place, word: string): number {
  const match = (text: string, most: number): number => {
    const lower = text.toLowerCase();
    if (!lower.includes(word)) return 0;
    const words = lower.split(/[^\p{L}\p{N}_]+/u);
    if (words.includes(word)) return most;
    return words.some((one) => one.startsWith(word)) ? most / 2 : most / 8;
  };
  return Math.max(match(heading, 6), match(page, 4), match(rest, 2));
}

function row([address, page, heading, words]: Place): HTMLElement {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = `${document.body.dataset['up']}${address}`;
  const title = document.createElement('strong');
  title.textContent = heading;
  const place = document.createElement('small');
  place.textContent = heading === page ? words.slice(0, 90) : page;
  link.append(title, place);
  item.append(link);
  return item;
}

function element(id: string): HTMLElement {
  return document.getElementById(id) as HTMLElement;
}
