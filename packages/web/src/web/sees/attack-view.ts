/** An attack on the page: what it is in plain words, what it came to in both modes, and below that how and why. */
import { ATTACK_WORDS, outcomeText, weakerText } from '@basa/lab/attacks/attack-words.ts';
import { make } from '../shared/dom.ts';
import type { AttackNews, Played } from './sees-messages.ts';

export function attackView(attack: AttackNews): HTMLElement {
  const { title, story } = ATTACK_WORDS[attack.id] ?? { title: attack.id, story: '' };
  return make(
    'article',
    { class: 'attack', 'data-id': attack.id },
    make('h3', {}, title),
    make('p', {}, story),
    make(
      'div',
      { class: 'verdicts' },
      verdict(weakerText(attack.mutant), attack, attack.broken),
      verdict('Sealed mode', attack, attack.sealed),
    ),
    detailsOf(attack),
  );
}

function verdict(against: string, { stoppedBy }: AttackNews, { findings, isSumWrong }: Played): HTMLElement {
  const isBroken = findings.length > 0 || isSumWrong;
  return make(
    'p',
    { class: 'verdict', 'data-learned': isBroken ? 'yes' : 'no' },
    make('b', {}, against),
    `: ${outcomeText({ findings, isSumWrong, stoppedBy })}.`,
  );
}

/** For those who want to know: the schedule, the rule that was left out, and the checks that said no. */
function detailsOf({ id, schedule, mutant, stoppedBy, sealed }: AttackNews): HTMLElement {
  const checks = sealed.refusals.map(({ by, reason, sentence }) =>
    make('li', {}, make('code', {}, reason), ` (the ${by}): ${sentence}`),
  );
  return make(
    'details',
    {},
    make('summary', {}, `How attack ${id} goes, and what stops it`),
    make('ol', {}, ...schedule.split('; ').map((step) => make('li', {}, step))),
    ...(mutant === undefined ? [] : [make('p', { class: 'hint' }, `What is weaker where it works: ${mutant}.`)]),
    ...(checks.length === 0
      ? [make('p', { class: 'hint' }, noChecks(stoppedBy))]
      : [make('p', { class: 'hint' }, 'Checks that said no in sealed mode:'), make('ul', {}, ...checks)]),
  );
}

function noChecks(stoppedBy: string | undefined): string {
  return stoppedBy === undefined
    ? 'No check is needed: what the attackers hold is useless.'
    : `By this rule everything goes on: ${stoppedBy}.`;
}
