/** Words that pages explain: on hover, on focus, and to screen readers. */
import type { Sealing } from '@basa/protocol';
import { make } from './dom.ts';

const WORDS = {
  accuracy:
    'How good the newest version is on test examples: the share that it gets right, or R2, the share of the variance of numbers that it explains. The server holds these examples; no device does.',
  version: 'The number of the model. Each opened sum makes the next version.',
  update: 'What one device would change in the model after training on its own data. It is sent masked.',
  dropped: 'Devices that took a slot and sent nothing in time. Their masks are taken out of the sum again.',
  places:
    'How many devices may train at the same time. More make versions come faster, and updates older. A few can be over it: nobody is sent away where a slot is free.',
  age: 'How many versions the model moved on while the updates of a sum were made. All of them are trained on one version. 0 is fresh.',
  buffer:
    'A group of updates that are added up together: a buffer with slots in sealed mode, a batch in one-shot mode. Nothing in it can be opened before it is closed, and then only its sum.',
  slot: 'The place of one device in a buffer. It is given once and belongs to that device for as long as its lease lasts.',
  lease: 'How long a device may take for its upload before its slot counts as dropped.',
  sealed:
    'In sealed mode devices leave sealed seeds for each other and wait for nobody. In “one-shot” mode a device sends one message, whatever the size of the sum. “paper” is the protocol as it was published.',
  'one-shot':
    'A device masks its update, seals the secret of the mask for the authorities and sends both to the server in one message. The authorities give out only the sum of the masks of a whole group.',
  sealing:
    'How devices encrypt the seeds of their masks for the authorities. With ML-KEM-768 as well, somebody who records the uploads today cannot open them with a quantum computer later.',
  refusal: 'Requests that the server refused, by their reason. Devices that wait for a place are not counted here.',
  authority: 'The second party. It releases the keys of a buffer once, for its sum, and never sees an update.',
  log: 'Every key that the authority issued is a record in a list that only grows. Its head is signed, so nobody can shorten it unseen.',
  token:
    'A password for one device and one use, made by the operator at the authority. A device that has joined once needs none.',
  loss: 'How wrong the model was on the examples of this device while it trained. Less is better.',
  metric:
    'Numbers that devices send along under the masks, such as their training loss. Only the mean over a whole buffer can be read, and one device that lies can set it to anything in its range.',
  epsilon:
    'How much the sums can tell about one device, at most: each sum that holds its update, with noise on it, adds to it. Smaller is more private.',
  pin: 'The key that this device believes over whatever a server tells it. A link from the operator brings it.',
  staleness: 'How many versions the model moved on between fetching it and using the update. Old updates count less.',
} as const;

/** The sealing of a task, in words. */
export const SEALING_WORDS: Readonly<Record<Sealing, { readonly name: string; readonly sentence: string }>> = {
  x25519: {
    name: 'X25519',
    sentence: 'The seeds of your masks are sealed with X25519, which a quantum computer could open later.',
  },
  'x25519+mlkem768': {
    name: 'X25519 and ML-KEM-768',
    sentence:
      'The seeds of your masks are sealed with X25519 and ML-KEM-768: they stay closed while either is unbroken.',
  },
};

/** Every element with `data-word` gets its explanation beside it. */
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
