/** The authorities of the task, asked directly by this page: whether they answer, and how many devices each let in. No owner can hide behind the server. */
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH } from '@basa/protocol/http';
import { count } from '../shared/format.ts';
import { element, make, say } from '../shared/page.ts';
import type { AuthorityPlace } from '../shared/state.ts';

const LOOK_MS = 3000;

/** Asks periodically. An authority with another key than the task names is reported. */
export function watchAuthorities(places: readonly AuthorityPlace[], needed: number): void {
  const all = places.map((place) => {
    const state = make('span', {}, 'asking…');
    return { place, state, row: make('li', {}, make('strong', {}, new URL(place.url).host), ' ', state) };
  });
  element('authority-states').append(...all.map(({ row }) => row));
  const look = async (): Promise<void> => {
    const problems = await Promise.all(all.map(({ place }) => problemOf(place)));
    for (const [n, { row, state }] of all.entries()) {
      say(state, problems[n] ?? 'answers');
      row.className = problems[n] === undefined ? 'fine' : 'down';
    }
    const fine = problems.filter((problem) => problem === undefined).length;
    const stands = fine < needed ? ': no sum can be opened until another one is back' : '';
    say(element('authority-status'), `${fine} of ${all.length} authorities answer, ${needed} needed${stands}`);
  };
  setInterval(() => void look(), LOOK_MS);
  void look();
}

async function problemOf({ url, key }: AuthorityPlace): Promise<string | undefined> {
  try {
    const answer = await fetch(url + AUTHORITY_PATH.about, { credentials: 'omit', cache: 'no-store' });
    const { publicKey } = (await answer.json()) as { readonly publicKey?: unknown };
    return publicKey === toHex(key) ? undefined : 'has another key than the task names';
  } catch {
    return 'does not answer';
  }
}

export function watchLetIn(task: string, places: readonly AuthorityPlace[]): void {
  const look = async (): Promise<void> => {
    const told = await Promise.all(places.map(async ({ url }) => `${await letIn(url, task)} at ${new URL(url).host}`));
    say(element('let-in'), `Devices let in: ${told.join(', ')}`);
  };
  setInterval(() => void look(), LOOK_MS);
  void look();
}

async function letIn(url: string, task: string): Promise<string> {
  try {
    const answer = await fetch(url + AUTHORITY_PATH.deviceCount(task), { credentials: 'omit', cache: 'no-store' });
    const { devices } = (await answer.json()) as { readonly devices?: unknown };
    return typeof devices === 'number' ? count(devices) : 'unknown';
  } catch {
    return 'unknown';
  }
}
