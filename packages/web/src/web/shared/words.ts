/** Words that pages explain: on hover, on focus, and to screen readers. */
import type { Sealing } from '@basa/protocol/policy';
import { make } from './dom.ts';

const WORDS = {
  accuracy:
    'The quality of the newest version on test examples: the share that it gets right, or, for numbers, R2, the share of the variance that it explains. Only the server has these examples.',
  version: 'The number of the current model. Each opened sum makes the next version.',
  update:
    'The change of the model that one device proposes after training on its own data. The device sends it masked.',
  places:
    'The number of devices that may train at the same time. With more places, versions come faster but updates are older.',
  age: 'The number of newer versions that were made while the devices prepared the updates of a sum. Usually, all updates of a sum are of one version. 0 means that they are up to date.',
  batch: 'A group of updates that are added together. After the group is closed, only its sum can be opened.',
  mode: 'In one-shot mode, a device sends one message, for every size of the sum. “paper” is the protocol as it was published: devices take turns, and the server can learn single updates.',
  'one-shot':
    'A device masks its update, encrypts the secret of the mask for the authorities, and sends both to the server in one message. The authorities release only the sum of the masks of a whole group.',
  sealing:
    'The encryption of the seeds of the masks, which devices send to the authorities. With ML-KEM-768, uploads that are recorded today cannot be opened later with a quantum computer.',
  refusal: 'Requests that the server refused, by their reason. Devices that wait for a place are not counted here.',
  authority: 'The second, independent party. It releases the sum of the masks of a batch, and never sees an update.',
  token:
    'A one-time password for one device, from the application that knows it. A device that has joined before needs no token.',
  loss: 'The error of the model on the examples of this device during its training. Lower is better.',
  metric:
    'Numbers that devices send under the same masks, such as their training loss. The server opens only sums over whole groups. One lying device can set that mean to any value in its range.',
  noise:
    'Random numbers that the devices or the authority add to each sum, so that it says less about a single device. “Blur” has no budget. A private task has one, and an epsilon.',
  epsilon:
    'The most that the sums can reveal about one device. Every noisy sum that contains its update adds to it. Smaller values are more private.',
  pin: 'A pinned key is one that this device trusts, even if a server claims another one. It comes in the link from the operator.',
  staleness:
    'The number of versions between the download of the model and the use of the update. Old updates count less.',
} as const;

/** The sealing of a task, in words. */
export const SEALING_WORDS: Readonly<Record<Sealing, { readonly name: string; readonly sentence: string }>> = {
  x25519: {
    name: 'X25519',
    sentence: 'The seeds of your masks are encrypted with X25519, which a future quantum computer could break.',
  },
  'x25519+mlkem768': {
    name: 'X25519 and ML-KEM-768',
    sentence:
      'The seeds of your masks are encrypted with X25519 and ML-KEM-768, and stay secret as long as one of the two is unbroken.',
  },
};

/** Every element with `data-word` gets an explanation next to it. */
export function explainWords(): void {
  for (const [n, button] of [...document.querySelectorAll<HTMLElement>('[data-word]')].entries()) explain(button, n);
  document.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') for (const shown of document.querySelectorAll<HTMLElement>('.explained')) shown.hidden = true;
  });
}

function explain(button: HTMLElement, n: number): void {
  const text = WORDS[button.dataset['word'] as keyof typeof WORDS];
  if (text === undefined) throw new Error(`no word ${button.dataset['word']}`);
  const tip = make(
    'span',
    { class: 'explained', role: 'tooltip', id: `word-${n}`, hidden: '' },
    make('span', {}, text),
  );
  const place = make('span', { class: 'word-place' });
  button.replaceWith(place);
  place.append(button, tip);
  button.setAttribute('aria-describedby', tip.id);
  const show = (isShown: boolean) => () => {
    tip.hidden = !isShown;
    if (isShown) moveBeside(tip, button);
  };
  // The explanation is inside the same element, so the pointer may move onto it.
  place.addEventListener('pointerenter', show(true));
  place.addEventListener('pointerleave', show(false));
  button.addEventListener('focus', show(true));
  button.addEventListener('blur', show(false));
}

/** Below the word, or above if there is no room; never beyond the window. */
function moveBeside(tip: HTMLElement, button: HTMLElement): void {
  const [word, { width, height }] = [button.getBoundingClientRect(), tip.getBoundingClientRect()];
  const { clientWidth, clientHeight } = document.documentElement;
  tip.style.left = `${Math.max(0, Math.min(word.left - 8, clientWidth - width))}px`;
  tip.style.top = `${word.bottom + height > clientHeight ? Math.max(0, word.top - height) : word.bottom}px`;
}
