/** The head of the authority's log, asked for at the authority itself: how long the log is, and that it only grows. */
import { fromHex, toHex } from '@basa/masking';
import type { Head } from '@basa/protocol';
import { AUTHORITY_PATH, headCodec, isSigned } from '@basa/protocol';
import { webSuite } from '@basa/runtime/web';
import { element, make, say } from '../shared/dom.ts';
import { count } from '../shared/format.ts';

const LOOK_MS = 3000;
const MAX_HEADS = 8;

/** Looks again and again. A signature that is none, or a log that shrank, is said. */
export function watchIssueLog(authority: string, authorityKey: string): void {
  const key = fromHex(authorityKey) ?? new Uint8Array();
  let last: Head | undefined;
  const look = async (): Promise<void> => {
    const head = await fetchHead(authority).catch(() => undefined);
    if (head === undefined) return say(element('log-status'), 'the authority does not answer');
    if (!isSigned(webSuite, headCodec, head, key))
      return say(element('log-status'), 'a head that the authority did not sign');
    const hasShrunk = last !== undefined && toHex(last.branch) === toHex(head.branch) && head.sequence < last.sequence;
    say(
      element('log-status'),
      hasShrunk ? 'the log is shorter than it was' : `${count(head.sequence)} records, signature checked in this page`,
    );
    if (head.sequence !== last?.sequence) note(head);
    last = head;
  };
  setInterval(() => void look(), LOOK_MS);
  void look();
}

async function fetchHead(authority: string): Promise<Head> {
  const answer = await fetch(authority + AUTHORITY_PATH.about, { credentials: 'omit', cache: 'no-store' });
  const { head } = (await answer.json()) as { readonly head: string };
  return headCodec.decode(fromHex(head) ?? new Uint8Array());
}

function note({ sequence, hash }: Head): void {
  const list = element('log-heads');
  list.prepend(
    make(
      'li',
      {},
      make('span', { class: 'value' }, count(sequence)),
      ' ',
      make('code', {}, `${toHex(hash).slice(0, 24)}…`),
    ),
  );
  while (list.children.length > MAX_HEADS) list.lastElementChild?.remove();
}
