/** The heads of the authorities' logs, fetched from the authorities themselves: the length of each log, and that it only grows. */
import { fromHex, toHex } from '@basa/masking';
import { AUTHORITY_PATH, type Head, headCodec, isSigned } from '@basa/protocol';
import { webSuite } from '@basa/runtime/web';
import { element, make, say } from '../shared/dom.ts';
import { count } from '../shared/format.ts';
import type { AuthorityPlace } from '../shared/server-facts.ts';

const LOOK_MS = 3000;
const MAX_HEADS = 8;

interface Watched {
  readonly place: AuthorityPlace;
  readonly row: HTMLElement;
  /** The text of its row. */
  readonly state: HTMLElement;
  last: Head | undefined;
  isFine: boolean;
}

/** Checks periodically. An invalid signature, or a log that shrank, is reported. */
export function watchIssueLogs(places: readonly AuthorityPlace[], needed: number): void {
  const all: readonly Watched[] = places.map((place) => {
    const state = make('span', {}, 'asking…');
    const name = make('strong', {}, new URL(place.url).host);
    return { place, row: make('li', {}, name, ' ', state), state, last: undefined, isFine: false };
  });
  const isAlone = all.length === 1;
  element('log-states').hidden = isAlone;
  element('log-heads').hidden = !isAlone;
  element('log-states').append(...all.map(({ row }) => row));
  if (!isAlone) {
    say(element('log-title'), 'The authorities’ logs');
    say(element('log-hint'), 'This page asks each authority directly and checks its signature.');
  }
  const look = async (): Promise<void> => {
    await Promise.all(all.map((one) => lookAt(one, isAlone)));
    const fine = all.filter(({ isFine }) => isFine).length;
    const [first] = all;
    const stands = fine < needed ? ': no sum can be opened until another one is back' : '';
    const together = `${fine} of ${all.length} authorities answer, ${needed} are needed${stands}`;
    say(element('log-status'), isAlone ? (first?.state.textContent ?? '') : together);
  };
  setInterval(() => void look(), LOOK_MS);
  void look();
}

async function lookAt(one: Watched, isAlone: boolean): Promise<void> {
  const { place, row, state, last } = one;
  const head = await fetchHead(place.url).catch(() => undefined);
  const problem = headProblem(head, last, place.key);
  one.isFine = problem === undefined;
  row.className = one.isFine ? 'fine' : 'down';
  const records = `${count(head?.sequence ?? 0)} records`;
  const checked = `${records}, signature checked in this page`;
  say(state, problem ?? (isAlone ? checked : `${records}, ${shown(head)}`));
  if (head === undefined || !isSigned(webSuite, headCodec, head, place.key)) return;
  if (isAlone && head.sequence !== last?.sequence) note(head);
  one.last = head;
}

function headProblem(head: Head | undefined, last: Head | undefined, key: Uint8Array): string | undefined {
  if (head === undefined) return 'the authority does not answer';
  if (!isSigned(webSuite, headCodec, head, key)) return 'a head that the authority did not sign';
  const hasShrunk = last !== undefined && toHex(last.branch) === toHex(head.branch) && head.sequence < last.sequence;
  return hasShrunk ? 'the log is shorter than it was' : undefined;
}

async function fetchHead(authority: string): Promise<Head> {
  const answer = await fetch(authority + AUTHORITY_PATH.about, { credentials: 'omit', cache: 'no-store' });
  const { head } = (await answer.json()) as { readonly head: string };
  return headCodec.decode(fromHex(head) ?? new Uint8Array());
}

function shown(head: Head | undefined): string {
  return head === undefined ? '' : `${toHex(head.hash).slice(0, 24)}…`;
}

function note(head: Head): void {
  const list = element('log-heads');
  const sequence = make('span', { class: 'value' }, count(head.sequence));
  list.prepend(make('li', {}, sequence, ' ', make('code', {}, shown(head))));
  while (list.children.length > MAX_HEADS) list.lastElementChild?.remove();
}
