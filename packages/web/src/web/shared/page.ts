/** The first steps of every page: removes the token from the address, keeps the pins in its links, explains words. */
import { element, say } from './dom.ts';
import { explainWords } from './words.ts';

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
