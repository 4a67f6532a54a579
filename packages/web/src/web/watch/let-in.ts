/** How many devices the owner of each authority let in, asked directly by this page: an owner cannot hide behind the server. */
import { AUTHORITY_PATH } from '@basa/protocol/http';
import { element, say } from '../shared/dom.ts';
import { count } from '../shared/format.ts';
import type { AuthorityPlace } from '../shared/server-facts.ts';

const LOOK_MS = 3000;

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
