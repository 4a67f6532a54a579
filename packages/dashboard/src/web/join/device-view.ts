/** What the page says of its device: where it is, what it did, what it cost. */
import type { Costs } from '@basa/client/web';
import { drawBars } from '../shared/bars.ts';
import { element, make, say } from '../shared/dom.ts';
import { bytes, count, milliseconds, short } from '../shared/format.ts';
import type { FromDevice } from './device-messages.ts';
import { drawUpdate } from './update-view.ts';

const STEP_TEXT = {
  seat: 'taking a seat in a buffer',
  deposit: 'sealing seeds for the others',
  key: 'asking the authority for the key of its slot',
  mask: 'masking',
  upload: 'uploading',
} as const;
const OUTCOME_TEXT = {
  included: 'The sum has opened, and your update is in it.',
  quarantined: 'The sum failed its checks and was not applied.',
  excluded: 'The buffer closed without your update.',
  aborted: 'The buffer was given up; nothing of it was opened.',
  undecided: '',
  unknown: 'The authority does not know this buffer any more.',
} as const;
const MAX_LINES = 14;

export interface OwnPlace {
  ctx: string | undefined;
  slot: number | undefined;
}

export function showNews(news: FromDevice, own: OwnPlace): void {
  document.documentElement.dataset['device'] = news.kind;
  if (news.kind === 'update') drawUpdate(news.view);
  else status(sentenceOf(news, own), isNoted(news));
}

/** Shows what the news bring, and gives the sentence for it. */
function sentenceOf(news: Exclude<FromDevice, { readonly kind: 'update' }>, own: OwnPlace): string {
  const root = document.documentElement;
  switch (news.kind) {
    case 'connected':
      say(element('device-name'), short(news.device));
      say(element('examples'), count(news.examples));
      return news.isResuming ? 'back: an upload was interrupted and goes on' : 'connected';
    case 'model':
      say(element('trained-on'), String(news.version));
      return `version ${news.version} is here; training`;
    case 'trained':
      say(element('loss'), news.loss.toFixed(3));
      return `trained on ${count(news.samples)} examples in ${milliseconds(news.ms)}`;
    case 'step':
      root.dataset['step'] = news.step;
      return STEP_TEXT[news.step] + partOf(news);
    case 'slotted':
      [own.ctx, own.slot] = [news.ctx, news.slot];
      return `slot ${news.slot} of buffer ${short(news.ctx)} is yours`;
    case 'accepted':
      [own.ctx, own.slot] = [news.ctx, news.slot];
      say(element('accepted'), String(Number(element('accepted').textContent) + 1));
      showCosts(news.costs);
      root.dataset['resumed'] = String(news.isResumed);
      return `accepted in slot ${news.slot}; the buffer fills`;
    case 'outcome':
      root.dataset['outcome'] = news.outcome;
      return OUTCOME_TEXT[news.outcome];
    case 'rejected':
      return `not taken: ${news.reason}`;
    case 'waiting':
      return `waiting: ${news.why}`;
    case 'paused':
      return 'paused; what was begun is kept';
    case 'left':
      return `this tab has left; ${news.accepted} of its updates were accepted`;
    case 'failed':
      return news.message;
  }
}

/** What comes many times is not written down each time. */
function isNoted(news: FromDevice): boolean {
  return news.kind !== 'waiting' && !(news.kind === 'step' && (news.sent ?? 0) > 0);
}

export function status(text: string, isNoted: boolean): void {
  say(element('device-status'), text);
  if (!isNoted || text === '') return;
  const log = element('device-log');
  log.prepend(make('li', {}, make('time', {}, new Date().toLocaleTimeString('en-GB')), ` ${text}`));
  while (log.children.length > MAX_LINES) log.lastElementChild?.remove();
}

function partOf({ sent, total }: Extract<FromDevice, { readonly kind: 'step' }>): string {
  return sent === undefined || total === undefined ? '' : `: ${bytes(sent)} of ${bytes(total)}`;
}

function showCosts(costs: Costs): void {
  const steps = ['seat', 'deposit', 'key', 'mask', 'upload'] as const;
  const bars = steps.flatMap((step) => {
    const cost = costs[step];
    if (cost === undefined) return [];
    const traffic = cost.sent + cost.received;
    const text = traffic === 0 ? milliseconds(cost.ms) : `${milliseconds(cost.ms)}, ${bytes(traffic)}`;
    return [{ label: step, value: cost.ms, text }];
  });
  drawBars(element('costs'), bars, 'nothing yet');
}
