/** The page's view of its device: its step, its progress and its costs. */
import type { Costs } from '@basa/client/web';
import { bytes, count, milliseconds, short } from '../shared/format.ts';
import { drawBars, element, make, say } from '../shared/page.ts';
import type { FromDevice } from './device-messages.ts';
import { drawUpdate } from './update-view.ts';

const STEP_TEXT = {
  connect: 'asking for the position in the buffer',
  key: 'asking the authority for the key of the position',
  mask: 'masking',
  upload: 'uploading',
} as const;
const FATE_TEXT = {
  included: 'The sum is open, and your update is in it.',
  quarantined: 'The sum failed its checks and was not applied.',
  refused: 'The server left your update out; this device continues with a newer version.',
  'version-over': 'The server left your update out; this device continues with a newer version.',
  waiting: '',
  unknown: 'The group of your update was given up; this device continues with a newer version.',
} as const;
const COST_TEXT = {
  connect: 'take the position',
  key: 'get the key',
  mask: 'mask',
  upload: 'upload',
} as const;
/** The next step, if the sentence of a service does not say it. */
const NEXT: Readonly<Record<string, string>> = {
  'enrolment-token-invalid': 'Each token enrols one device, once. Ask the application that gave it for another one.',
  'task-paused': 'Come back later; your progress is kept.',
  'budget-spent': 'Its updates stay in the model, and it has nothing more to do.',
};
const TWICE = 'Another tab of this browser already runs this device. Use that tab, or close it and join again.';
const MAX_LINES = 14;

export interface OwnPlace {
  ctx: string | undefined;
}

export function showNews(news: FromDevice, own: OwnPlace): void {
  document.documentElement.dataset['device'] = news.kind;
  if (news.kind === 'update') drawUpdate(news.view);
  else if (news.kind === 'privacy') showSpent(news);
  else if (news.kind === 'failed') showError(isTwice(news.message) ? TWICE : withNext(news.message, news.code));
  else if (news.kind === 'ended' && news.code !== 'task-finished') showError(withNext(news.sentence, news.code));
  else status(sentenceOf(news, own), isNoted(news));
}

/** Shown until the next try. */
export function showError(sentence: string): void {
  element('device-error').hidden = false;
  say(element('device-error'), sentence);
  say(element('device-status'), 'This tab is not taking part.');
  note(sentence, 'bad');
}

export function clearError(): void {
  element('device-error').hidden = true;
}

/** The client's advice, another identity, is for programs. */
function isTwice(message: string): boolean {
  return message.includes('in use by another tab');
}

function withNext(sentence: string, code = ''): string {
  return NEXT[code] === undefined ? sentence : `${sentence} ${NEXT[code]}`;
}

/** Epsilon of this device so far, out of its whole budget. */
function showSpent({
  epsilon,
  epsilonBudget,
  inclusions,
  participations,
}: Extract<FromDevice, { readonly kind: 'privacy' }>): void {
  element('spent-fact').hidden = false;
  const part = `${count(inclusions)} of ${count(participations)} participations`;
  say(element('spent'), `${epsilon.toFixed(2)} of ${epsilonBudget.toFixed(2)} (${part})`);
}

/** Shows the content of a message, and returns the sentence for it. */
function sentenceOf(
  news: Exclude<FromDevice, { readonly kind: 'update' | 'failed' | 'privacy' }>,
  own: OwnPlace,
): string {
  const root = document.documentElement;
  switch (news.kind) {
    case 'connected':
      say(element('device-name'), short(news.device));
      say(element('examples'), count(news.examples));
      return news.isResuming ? 'continuing an interrupted upload' : 'connected';
    case 'model':
      say(element('trained-on'), String(news.version));
      return `received version ${news.version}; training`;
    case 'trained':
      say(element('loss'), news.loss.toFixed(3));
      return `trained on ${count(news.samples)} examples in ${milliseconds(news.ms)}`;
    case 'step':
      root.dataset['step'] = news.step;
      return STEP_TEXT[news.step] + partOf(news);
    case 'accepted':
      own.ctx = news.ctx;
      say(element('accepted'), String(Number(element('accepted').textContent) + 1));
      showCosts(news.costs);
      root.dataset['resumed'] = String(news.isResumed);
      return news.position === undefined
        ? 'accepted; your part is done, and the batch fills up'
        : `accepted at position ${news.position}; the buffer fills up`;
    case 'fate':
      root.dataset['fate'] = news.fate;
      return FATE_TEXT[news.fate];
    case 'rejected':
      return `not accepted this time: ${news.sentence}`;
    case 'ended':
      return news.sentence;
    case 'waiting':
      return `waiting: ${news.why}`;
    case 'paused':
      return 'paused; your progress is kept';
    case 'left':
      return `this tab has left; ${news.accepted} of its updates were accepted`;
  }
}

/** Frequent messages are not logged each time. */
function isNoted(news: FromDevice): boolean {
  return news.kind !== 'waiting' && !(news.kind === 'step' && (news.sent ?? 0) > 0);
}

export function status(text: string, isNoted: boolean): void {
  say(element('device-status'), text);
  if (isNoted && text !== '') note(text, 'plain');
}

function note(text: string, kind: 'plain' | 'bad'): void {
  const log = element('device-log');
  log.querySelector('.quiet')?.remove();
  log.prepend(make('li', { class: kind }, make('time', {}, new Date().toLocaleTimeString('en-GB')), ` ${text}`));
  while (log.children.length > MAX_LINES) log.lastElementChild?.remove();
}

function partOf({ sent, total }: Extract<FromDevice, { readonly kind: 'step' }>): string {
  return sent === undefined || total === undefined ? '' : `: ${bytes(sent)} of ${bytes(total)}`;
}

export function showCosts(costs: Costs): void {
  const steps = ['connect', 'key', 'mask', 'upload'] as const;
  const bars = steps.flatMap((step) => {
    const cost = costs[step];
    if (cost === undefined) return [];
    const traffic = cost.sent + cost.received;
    const text = traffic === 0 ? milliseconds(cost.ms) : `${milliseconds(cost.ms)}, ${bytes(traffic)}`;
    return [{ label: COST_TEXT[step], value: cost.ms, text }];
  });
  drawBars(element('costs'), bars, 'nothing yet: the cost is measured after you join');
}
