/** The heads of the authorities' logs, asked for at the authorities themselves: how long each log is, and that it only grows. */
import { fromHex, toHex } from '@basa/masking';
import type { Head } from '@basa/protocol';
import { AUTHORITY_PATH, headCodec, isSigned } from '@basa/protocol';
import { webSuite } from '@basa/runtime/web';
import { element, make, say } from '../shared/dom.ts';
import { count } from '../shared/format.ts';
import type { AuthorityPlace } from '../shared/server-facts.ts';

const LOOK_MS = 3000;
const MAX_HEADS = 8;

interface Watched {
  readonly place: AuthorityPlace;
  /** What its row says. */
  readonly state: HTMLElement;
  last: Head | undefined;
  isFine: boolean;
}

/** Looks again and again. A signature that is none, or a log that shrank, is said. */
export function watchIssueLogs(places: readonly AuthorityPlace[], needed: number): void {
  const all: readonly Watched[] = places.map((place) => ({
    place,
    state: make('span', {}, 'asking…'),
    last: undefined,
    isFine: false,
  }));
  const isAlone = all.length === 1;
  element('log-states').hidden = isAlone;
  element('log-states').append(...all.map(({ place, state }) => make('li', {}, nameOf(place), ': ', state)));
  const look = async (): Promise<void> => {
    await Promise.all(all.map((one) => lookAt(one, isAlone)));
    const fine = all.filter(({ isFine }) => isFine).length;
    const [first] = all;
    const together = `${fine} of ${all.length} authorities answer, ${needed} are needed`;
    say(element('log-status'), isAlone ? (first?.state.textContent ?? '') : together);
  };
  setInterval(() => void look(), LOOK_MS);
  void look();
}

async function lookAt(one: Watched, isAlone: boolean): Promise<void> {
  const { place, state, last } = one;
  const head = await fetchHead(place.url).catch(() => undefined);
  const problem = headProblem(head, last, place.key);
  one.isFine = problem === undefined;
  say(state, problem ?? `${count(head?.sequence ?? 0)} records, signature checked in this page`);
  if (head === undefined || !isSigned(webSuite, headCodec, head, place.key)) return;
  if (head.sequence !== last?.sequence) note(head, isAlone ? '' : `${nameOf(place)} `);
  one.last = head;
}

function headProblem(head: Head | undefined, last: Head | undefined, key: Uint8Array): string | undefined {
  if (head === undefined) return 'the authority does not answer';
  if (!isSigned(webSuite, headCodec, head, key)) return 'a head that the authority did not sign';
  const hasShrunk = last !== undefined && toHex(last.branch) === toHex(head.branch) && head.sequence < last.sequence;
  return hasShrunk ? 'the log is shorter than it was' : undefined;
}

function nameOf({ url }: AuthorityPlace): string {
  return new URL(url).host;
}

async function fetchHead(authority: string): Promise<Head> {
  const answer = await fetch(authority + AUTHORITY_PATH.about, { credentials: 'omit', cache: 'no-store' });
  const { head } = (await answer.json()) as { readonly head: string };
  return headCodec.decode(fromHex(head) ?? new Uint8Array());
}

function note({ sequence, hash }: Head, whose: string): void {
  const list = element('log-heads');
  list.prepend(
    make(
      'li',
      {},
      whose,
      make('span', { class: 'value' }, count(sequence)),
      ' ',
      make('code', {}, `${toHex(hash).slice(0, 24)}…`),
    ),
  );
  while (list.children.length > MAX_HEADS) list.lastElementChild?.remove();
}
