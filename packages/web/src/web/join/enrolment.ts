/**
 * Enrols this tab: with the token in its link, with a token that a person typed, with a token from the server, or with an earlier
 * enrolment.
 */
import { SERVER_PATH } from '@basa/protocol/http';
import { element, say } from '../shared/dom.ts';

export type Admittance =
  | { readonly kind: 'ready'; readonly token?: string }
  | { readonly kind: 'missing'; readonly sentence: string };

export interface EnrolmentOptions {
  readonly task: string;
  readonly linkToken: string | null;
  readonly handsOutTokens: boolean;
}

const NEEDED =
  'To join, you need a one-time enrolment token. The application of this task gives you one, or a link that contains it.';
const MISTYPED = 'An enrolment token has 64 digits from 0 to 9 and a to f. Check what you typed.';
const NONE_LEFT = 'The server has no tokens left. Ask its operator for one, or restart basa dev.';
const NOTES = {
  link: 'Your link contains an enrolment token; you need nothing else.',
  known: 'This browser has joined this task before; you need no token.',
  handed: 'This is a test server that gives a token to every new device; you need nothing else.',
  needed: NEEDED,
} as const;

export class Enrolment {
  readonly #options: EnrolmentOptions;
  readonly #field = element<HTMLInputElement>('token');

  constructor(options: EnrolmentOptions) {
    this.#options = options;
    this.#field.value = options.linkToken ?? '';
    this.#show();
  }

  /** The credentials of the device. A token that is handed out is used up by it. */
  async admittance(): Promise<Admittance> {
    const token = this.#field.value.trim();
    if (token !== '' && !/^[0-9a-f]{64}$/.test(token)) return { kind: 'missing', sentence: MISTYPED };
    if (token !== '') return { kind: 'ready', token };
    if (this.isKnown) return { kind: 'ready' };
    if (!this.#options.handsOutTokens) return { kind: 'missing', sentence: NEEDED };
    const answer = await fetch(SERVER_PATH.pageTokens(this.#options.task), { method: 'POST', credentials: 'omit' });
    if (!answer.ok) return { kind: 'missing', sentence: NONE_LEFT };
    return { kind: 'ready', token: ((await answer.json()) as { readonly token: string }).token };
  }

  /** From now on the device is known to the authority. */
  succeeded(): void {
    localStorage.setItem(this.#mark, 'yes');
    this.#field.value = '';
    this.#show();
  }

  /** The authority accepted no token of this device, or no longer knows the device. */
  failed(): void {
    localStorage.removeItem(this.#mark);
    say(element('token-note'), NEEDED);
    this.ask();
  }

  /** Asks the person for a token. */
  ask(): void {
    element('token-field').hidden = false;
    this.#field.setAttribute('aria-invalid', 'true');
    this.#field.focus();
  }

  get #mark(): string {
    return `basa-joined:${this.#options.task}`;
  }

  /** True if this browser has joined the task before. */
  get isKnown(): boolean {
    return localStorage.getItem(this.#mark) !== null;
  }

  #show(): void {
    const { linkToken, handsOutTokens } = this.#options;
    const way = this.isKnown ? 'known' : linkToken !== null ? 'link' : handsOutTokens ? 'handed' : 'needed';
    say(element('token-note'), NOTES[way]);
    element('token-field').hidden = way === 'known' || way === 'handed';
    this.#field.removeAttribute('aria-invalid');
  }
}
