/** Whether the authorities of the task answer, asked directly by this page. */
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH } from '@basa/protocol/http';
import { element, make, say } from '../shared/dom.ts';
import type { AuthorityPlace } from '../shared/server-facts.ts';

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
