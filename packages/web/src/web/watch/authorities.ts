/** The authorities of the task, asked directly by this page: whether they answer, and how many devices each let in. No owner can hide behind the server. */
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH } from '@basa/protocol/http';
import { count } from '../shared/format.ts';
import { element, make, say } from '../shared/page.ts';
import type { AuthorityPlace } from '../shared/state.ts';

const LOOK_MS = 3000;

/** Asks periodically. An authority with another key than the task names is reported. */
export function watchAuthorities(task: string, places: readonly AuthorityPlace[], needed: number): void {
  const all = places.map((place) => {
    const state = make('span', {}, 'asking…');
    return { place, state, row: make('li', {}, make('strong', {}, new URL(place.url).host), ' ', state) };
  });
  element('authority-states').append(...all.map(({ row }) => row));
  const look = async (): Promise<void> => {
    const told = await Promise.all(all.map(async ({ place }) => [await problemOf(place), await letIn(place, task)]));
    for (const [n, { row, state }] of all.entries()) {
      const problem = told[n]?.[0];
      say(state, problem ?? 'answers');
      row.className = problem === undefined ? 'fine' : 'down';
    }
    const fine = told.filter(([problem]) => problem === undefined).length;
    const stands = fine < needed ? ': no sum can be opened until another one is back' : '';
    say(element('authority-status'), `${fine} of ${all.length} authorities answer, ${needed} needed${stands}`);
    say(element('let-in'), `Devices let in: ${told.map(([, devices]) => devices).join(', ')}`);
  };
  setInterval(() => void look(), LOOK_MS);
  void look();
}

async function ask(url: string): Promise<Readonly<Record<string, unknown>>> {
  const answer = await fetch(url, { credentials: 'omit', cache: 'no-store' });
  return Object(await answer.json());
}

async function problemOf({ url, key }: AuthorityPlace): Promise<string | undefined> {
  try {
    const { publicKey } = await ask(url + AUTHORITY_PATH.about);
    return publicKey === toHex(key) ? undefined : 'has another key than the task names';
  } catch {
    return 'does not answer';
  }
}

async function letIn({ url }: AuthorityPlace, task: string): Promise<string> {
  const { devices } = await ask(url + AUTHORITY_PATH.deviceCount(task)).catch(() => ({ devices: undefined }));
  return `${typeof devices === 'number' ? count(devices) : 'unknown'} at ${new URL(url).host}`;
}
