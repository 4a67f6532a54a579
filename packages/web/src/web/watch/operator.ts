/** An operator's controls on the page: watch a restricted task, pause a task and resume it. */
import { SERVER_PATH } from '@basa/protocol/http';
import { element, say } from '../shared/dom.ts';

/** Kept in the tab: other tabs and later visits start without it. */
export const KEPT_AS = 'basa-operator';

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
