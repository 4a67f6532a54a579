/** An attack on the page: its schedule step by step, then what it came to in both modes. */
import { make } from '../shared/dom.ts';
import type { AttackNews, Played } from './sees-messages.ts';

const STEP_MS = 350;

/** Steps appear one after the other, unless people asked for less motion. */
export async function showAttack(place: HTMLElement, attack: AttackNews): Promise<void> {
  const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  const steps = make('ol');
  const article = make('article', { class: 'attack', 'data-id': attack.id }, make('h3', {}, attack.id), steps);
  place.append(article);
  for (const step of attack.schedule.split('; ')) {
    const item = make('li', { 'data-now': '' }, step);
    steps.append(item);
    if (!isCalm) await new Promise((resolve) => setTimeout(resolve, STEP_MS));
    item.removeAttribute('data-now');
  }
  const against = attack.mutant === undefined ? 'paper mode' : `sealed without one rule (${attack.mutant})`;
  article.append(
    make('div', { class: 'verdicts' }, verdict(against, attack.broken), verdict('sealed mode', attack.sealed)),
  );
}

function verdict(against: string, { findings, refusals, isSumWrong }: Played): HTMLElement {
  const isBroken = findings.length > 0 || isSumWrong;
  const learned = findings.length > 0 ? `learns ${findings.join(', ')}` : isSumWrong ? 'a wrong sum' : 'learns nothing';
  const stopped = isBroken
    ? ''
    : refusals.length === 0
      ? '; the bytes are useless'
      : `; stopped by the ${refusals.map(({ by, reason }) => `${by} (${reason})`).join(', the ')}`;
  return make(
    'p',
    { class: 'verdict', 'data-learned': isBroken ? 'yes' : 'no' },
    make('b', {}, against),
    `: ${learned}${stopped}`,
  );
}
