/** What every page does first: its address loses the token, its links keep what the address pins, its words are explained. */
import { element, say } from './dom.ts';
import { explainWords } from './words.ts';

/** Which device of which task a link is for; how a device behaves in this tab is not carried on. */
const CARRIED = ['task', 'authorityKey', 'share'] as const;

/** What stands behind the # of the address: a browser sends it to nobody. Asked before `startPage`, it has the token of the link. */
export function fragment(): URLSearchParams {
  return new URLSearchParams(location.hash.slice(1));
}

export function startPage(): void {
  dropToken();
  carryPins();
  explainWords();
  // The # of the address is taken: it cannot name a place on the page as well.
  document.querySelector('.skip')?.addEventListener('click', (event) => {
    event.preventDefault();
    element('main').tabIndex = -1;
    element('main').focus();
  });
  window.addEventListener('hashchange', () => location.reload());
}

/** Tells whether the server can be heard, and if not, why. */
export function showLink(isThere: boolean, why?: string): void {
  element('link').hidden = isThere;
  say(element('link-why'), why === undefined ? 'The server cannot be heard' : `There is no live picture: ${why}`);
}

/** Another task keeps the authority's key. */
export function addressOfTask(task: string): string {
  const pins = fragment();
  pins.set('task', task);
  return `#${pins}`;
}

/** A token lets a device in: it does not stay in the address, the history of the tab, or links, for the next person to find. */
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
