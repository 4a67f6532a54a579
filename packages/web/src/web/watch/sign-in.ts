/** Sign-in of an operator at an OpenID provider: the browser goes there and comes back to this page with a code. */
import { type Begun, beginSignIn, endSignIn } from '@basa/client/operator';
import type { PageSettings } from '@basa/protocol/http';
import { webRandomBytes } from '@basa/runtime/web';
import { element, say } from '../shared/dom.ts';
import { KEPT_AS } from './operator.ts';

/** Kept in the tab while the browser is at the provider. */
const BEGUN_AS = 'basa-sign-in';
const RANDOM_BYTES = 32;
/** The address that the provider knows. */
const BACK = `${location.origin}/`;

type Provider = PageSettings['signIn'];

interface Kept extends Begun {
  /** The part of the address after the #. */
  readonly hash: string;
}

export function offerSignIn(provider: Provider): void {
  if (provider === undefined) return;
  const button = element<HTMLButtonElement>('sign-in');
  button.hidden = false;
  button.addEventListener('click', async () => {
    try {
      const { address, begun } = await beginSignIn(provider, BACK, () => webRandomBytes(RANDOM_BYTES));
      sessionStorage.setItem(BEGUN_AS, JSON.stringify({ ...begun, hash: location.hash } satisfies Kept));
      location.assign(address);
    } catch (error) {
      tell(error);
    }
  });
}

/** If the browser comes back from the provider: keeps the token, and takes the code out of the address. */
export async function finishSignIn(provider: Provider): Promise<void> {
  const answer = new URLSearchParams(location.search);
  const text = sessionStorage.getItem(BEGUN_AS);
  if (provider === undefined || text === null || !answer.has('state')) return;
  const { hash, ...begun } = JSON.parse(text) as Kept;
  sessionStorage.removeItem(BEGUN_AS);
  history.replaceState(null, '', `/${hash}`);
  try {
    sessionStorage.setItem(KEPT_AS, (await endSignIn(provider, BACK, begun, answer)).token);
  } catch (error) {
    tell(error);
  }
}

function tell(error: unknown): void {
  element<HTMLDetailsElement>('operator').open = true;
  element('operator-status').classList.add('error');
  say(element('operator-status'), (error as Error).message);
}
