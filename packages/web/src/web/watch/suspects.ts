/** The suspected devices that an operator sees, each to be cleared or banned. */
import { SERVER_PATH } from '@basa/protocol';
import { element, make } from '../shared/dom.ts';
import { percent } from '../shared/format.ts';

interface Suspect {
  readonly user: string;
  readonly suspicion: number;
  readonly state: string;
  readonly sumsLeft?: number;
}

const LOOK_MS = 5_000;
const SHOWN_DIGITS = 12;

/** Checks periodically; `report` shows the result of a decision. */
export function watchSuspects(
  task: string,
  token: string,
  report: (answer: Response, done: string) => Promise<void>,
): void {
  const authorization = `Bearer ${token}`;
  const look = async (): Promise<void> => {
    const answer = await fetch(SERVER_PATH.suspicions(task), { headers: { authorization } });
    if (answer.ok) draw(((await answer.json()) as { readonly suspects: readonly Suspect[] }).suspects);
  };
  const decide = async (user: string, state: 'clear' | 'banned'): Promise<void> => {
    const headers = { authorization, 'content-type': 'application/json' };
    const body = JSON.stringify({ state });
    const done = `device ${user.slice(0, SHOWN_DIGITS)} is ${state === 'clear' ? 'cleared' : 'banned'}`;
    await report(await fetch(SERVER_PATH.suspicion(task, user), { method: 'PUT', headers, body }), done);
    await look();
  };
  const draw = (suspects: readonly Suspect[]): void => {
    element('suspects-card').hidden = suspects.length === 0;
    element('suspects').replaceChildren(...suspects.map((suspect) => rowOf(suspect, decide)));
  };
  const tryToLook = (): void => void look().catch(() => undefined); // the page shows elsewhere that the server is away
  tryToLook();
  setInterval(tryToLook, LOOK_MS);
}

function rowOf(
  { user, suspicion, state, sumsLeft }: Suspect,
  decide: (user: string, state: 'clear' | 'banned') => Promise<void>,
): HTMLElement {
  const button = (text: string, decision: 'clear' | 'banned'): HTMLElement => {
    const made = make('button', { type: 'button' }, text);
    made.addEventListener('click', () => void decide(user, decision));
    return made;
  };
  const buttons = [button('Clear', 'clear'), ...(state === 'banned' ? [] : [button('Ban', 'banned')])];
  return make(
    'tr',
    {},
    make('td', {}, make('code', {}, user.slice(0, SHOWN_DIGITS))),
    make('td', {}, percent(suspicion)),
    make('td', {}, sumsLeft === undefined ? state : `${state}, for ${sumsLeft} more sums`),
    make('td', { class: 'buttons' }, ...buttons),
  );
}
