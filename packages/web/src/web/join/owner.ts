/** What the owner of a device decides on the page: its enrolment, its pictures, its pauses. */
import { SERVER_PATH } from '@basa/protocol/http';
import { element, say } from '../shared/page.ts';

type Admittance =
  | { readonly kind: 'ready'; readonly token?: string }
  | { readonly kind: 'missing'; readonly sentence: string };

interface EnrolmentOptions {
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

export interface OwnPictures {
  readonly inputs: Uint8Array;
  readonly labels: Uint8Array;
}

export const NO_PICTURES: OwnPictures = { inputs: new Uint8Array(), labels: new Uint8Array() };

/** They never leave the tab: they are drawn onto a small canvas here, and only their pixels go to the worker. */
export async function addPictures(
  known: OwnPictures,
  files: Iterable<File>,
  { label, width, height }: { readonly label: number; readonly width: number; readonly height: number },
): Promise<OwnPictures> {
  const added: Uint8Array[] = [];
  for (const file of files) added.push(await pixelsOf(file, width, height));
  const inputs = new Uint8Array(known.inputs.length + added.length * width * height);
  inputs.set(known.inputs);
  for (const [n, pixels] of added.entries()) inputs.set(pixels, known.inputs.length + n * width * height);
  const labels = new Uint8Array(known.labels.length + added.length);
  labels.set(known.labels);
  labels.fill(label, known.labels.length);
  return { inputs, labels };
}

async function pixelsOf(file: File, width: number, height: number): Promise<Uint8Array> {
  const picture = await createImageBitmap(file);
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('this browser cannot draw');
  context.drawImage(picture, 0, 0, width, height);
  picture.close();
  const { data } = context.getImageData(0, 0, width, height);
  const grey = Uint8Array.from({ length: width * height }, (_, n) => greyOf(data, 4 * n));
  const mean = grey.reduce((sum, value) => sum + value, 0) / grey.length;
  // Ink is light in the data of the task; a scan of paper is mostly light and gets inverted.
  return mean > 127 ? grey.map((value) => 255 - value) : grey;
}

function greyOf(data: Uint8ClampedArray, at: number): number {
  const [r = 0, g = 0, b = 0, a = 0] = data.subarray(at, at + 4);
  return Math.round(((0.299 * r + 0.587 * g + 0.114 * b) * a + 255 * (255 - a)) / 255);
}

/** The pauses of a device: while its tab is hidden, while there is no network, and for as long as its owner wants. */
interface Pauses {
  /** Called when it begins or ends to rest. */
  onChange(isResting: boolean, why: string): void;
}

interface PauseControl {
  readonly isResting: boolean;
  /** The owner's wish. */
  want(isPaused: boolean): void;
  whenHidden(isSo: boolean): void;
}

export function watchPauses({ onChange }: Pauses): PauseControl {
  let [wanted, hiddenCounts, last] = [false, true, ''];
  const look = (): void => {
    const why = wanted
      ? 'paused'
      : !navigator.onLine
        ? 'paused: no network'
        : hiddenCounts && document.hidden
          ? 'paused: the tab is hidden'
          : '';
    if (why === last) return;
    last = why;
    onChange(why !== '', why);
  };
  document.addEventListener('visibilitychange', look);
  window.addEventListener('online', look);
  window.addEventListener('offline', look);
  queueMicrotask(look);
  return {
    get isResting() {
      return last !== '';
    },
    want(isPaused) {
      wanted = isPaused;
      look();
    },
    whenHidden(isSo) {
      hiddenCounts = isSo;
      look();
    },
  };
}
