/** What every page does first: its links keep what the address pins, its words are explained. */
import { element } from './dom.ts';
import { explainWords } from './words.ts';

/** Which device of which task a link is for; how a device behaves in this tab is not carried on. */
const CARRIED = ['task', 'authorityKey', 'token', 'share'] as const;

/** What stands behind the # of the address: a browser sends it to nobody. */
export function fragment(): URLSearchParams {
  return new URLSearchParams(location.hash.slice(1));
}

export function startPage(): void {
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

/** Another task keeps the authority's key, but a token is for one task. */
export function addressOfTask(task: string): string {
  const pins = fragment();
  if (pins.get('task') !== task) pins.delete('token');
  pins.set('task', task);
  return `#${pins}`;
}

function carryPins(): void {
  const pins = fragment();
  for (const name of [...pins.keys()]) if (!CARRIED.some((carried) => carried === name)) pins.delete(name);
  for (const link of document.querySelectorAll<HTMLAnchorElement>('nav a')) link.hash = pins.toString();
}
