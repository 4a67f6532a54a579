/** An attack on the page: what it is in plain words, what it came to in both modes, and below that how and why. */
import { ATTACK_WORDS } from '@basa/lab/attacks/attack-words.ts';
import { make } from '../shared/dom.ts';
import type { AttackNews, Played } from './sees-messages.ts';

export function attackView(attack: AttackNews): HTMLElement {
  const { title, story } = ATTACK_WORDS[attack.id] ?? { title: attack.id, story: '' };
  const weaker = attack.mutant === undefined ? 'The paper’s protocol' : 'Sealed mode without the rule against it';
  return make(
    'article',
    { class: 'attack', 'data-id': attack.id },
    make('h3', {}, title),
    make('p', {}, story),
    make(
      'div',
      { class: 'verdicts' },
      verdict(weaker, attack, attack.broken),
      verdict('Sealed mode', attack, attack.sealed),
    ),
    detailsOf(attack),
  );
}

function verdict(against: string, { stoppedBy }: AttackNews, { findings, isSumWrong }: Played): HTMLElement {
  const isBroken = findings.length > 0 || isSumWrong;
  const found = findings.map(findingText).join(', ');
  const learned = findings.length > 0 ? `the server learns ${found}` : '';
  const unlearned = isSumWrong ? 'the sum is wrong' : 'the server learns nothing';
  const outcome = stoppedBy === undefined ? learned || unlearned : found || 'everything goes on';
  return make(
    'p',
    { class: 'verdict', 'data-learned': isBroken ? 'yes' : 'no' },
    make('b', {}, against),
    `: ${outcome}.`,
  );
}

/** The referee writes `x of U2` for an update, and differences with a minus. */
export function findingText(finding: string): string {
  const parts = finding.split(' - ').map((part) => part.replace(/^x of /, 'the update of '));
  return parts.length === 1 ? (parts[0] ?? '') : `the difference between ${parts.join(' and ')}`;
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
