/** An operator's controls on the page: sign in, watch a restricted task, pause a task and resume it. */
import { type Begun, beginSignIn, endSignIn } from '@basa/client/operator';
import { type Live, SERVER_PATH } from '@basa/protocol/http';
import { webRandomBytes } from '@basa/runtime/web';
import { element, say } from '../shared/page.ts';

/** Kept in the tab: other tabs and later visits start without it. */
const KEPT_AS = 'basa-operator';

export interface OperatorControls {
  readonly token: string | undefined;
  /** Shows the state of the task. */
  show(state: string): void;
  /** Forgets the token, and restarts the page. */
  logOut(): void;
}

export function operatorControls(task: string): OperatorControls {
  const token = sessionStorage.getItem(KEPT_AS) ?? undefined;
  const button = element<HTMLButtonElement>('switch');
  let current = 'running';
  element('login').addEventListener('submit', (event) => {
    event.preventDefault();
    void logIn(element<HTMLInputElement>('operator-token').value.trim());
  });
  element('log-out').addEventListener('click', logOut);
  button.addEventListener('click', async () => {
    const state = current === 'paused' ? 'running' : 'paused';
    const body = JSON.stringify({ state });
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    report(await fetch(SERVER_PATH.taskState(task), { method: 'PUT', headers, body }), `the task is ${state}`);
  });
  if (token !== undefined) {
    element<HTMLDetailsElement>('operator').open = true;
    element('login').hidden = true;
    element('operator-buttons').hidden = false;
    say(element('operator-status'), 'logged in');
  }
  return {
    token,
    logOut,
    show(state) {
      current = state;
      say(button, state === 'paused' ? 'Resume the task' : 'Pause the task');
      button.disabled = state === 'finished';
    },
  };
}

function logOut(): void {
  sessionStorage.removeItem(KEPT_AS);
  location.reload();
}

/** Asks the server whether it knows the token, and restarts the page with it. */
async function logIn(token: string): Promise<void> {
  const answer = await fetch(SERVER_PATH.pageLogin, { headers: { authorization: `Bearer ${token}` } });
  if (!answer.ok) return report(answer, '');
  sessionStorage.setItem(KEPT_AS, token);
  location.reload();
}

async function report(answer: Response, done: string): Promise<void> {
  const problem = answer.ok ? {} : ((await answer.json()) as { readonly title?: string; readonly detail?: string });
  const refused = `Refused: ${problem.title ?? answer.status}${problem.detail === undefined ? '' : ` (${problem.detail})`}`;
  element('operator-status').classList.toggle('error', !answer.ok);
  say(element('operator-status'), answer.ok ? done : refused);
}

/** Kept in the tab while the browser is at the provider. */
const BEGUN_AS = 'basa-sign-in';
const RANDOM_BYTES = 32;
/** The address that the provider knows. */
const BACK = `${location.origin}/`;

type Provider = Live.PageSettings['signIn'];

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
