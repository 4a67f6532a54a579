/** An attack on the page: the attack in plain words, its result without and with the rule that stops it, and the details below that. */
import { ATTACK_WORDS, resultText } from '@basa/lab/attacks/attack-words.ts';
import { make } from '../shared/dom.ts';
import type { AttackNews, Played } from './sees-messages.ts';

export function attackView(attack: AttackNews): HTMLElement {
  const { title, story } = ATTACK_WORDS[attack.id] ?? { title: attack.id, story: '' };
  const weaker = attack.on === 'paper' ? 'The paper’s protocol' : 'One-shot mode without the rule against it';
  return make(
    'article',
    { class: 'attack', 'data-id': attack.id },
    make('h4', {}, title),
    make('p', {}, story),
    make('div', { class: 'verdicts' }, verdict(weaker, attack.broken), verdict('One-shot mode', attack.asItIs)),
    detailsOf(attack),
  );
}

function verdict(against: string, played: Played): HTMLElement {
  const isBroken = played.findings.length > 0 || played.isSumWrong;
  return make(
    'p',
    { class: 'verdict', 'data-learned': isBroken ? 'yes' : 'no' },
    make('b', {}, against),
    `: ${resultText(played)}.`,
  );
}

/** The schedule, the rule that was left out, and the checks that refused something. */
function detailsOf({ id, schedule, inOneShot, mutant, asItIs }: AttackNews): HTMLElement {
  const checks = asItIs.refusals.map(({ by, reason, sentence }) =>
    make('li', {}, make('code', {}, reason), ` (the ${by}): ${sentence}`),
  );
  return make(
    'details',
    {},
    make('summary', {}, `Details of attack ${id}`),
    steps(schedule),
    ...(inOneShot === undefined ? [] : [make('p', { class: 'hint' }, 'In one-shot mode:'), steps(inOneShot)]),
    ...(mutant === undefined ? [] : [make('p', { class: 'hint' }, `The attack works against: ${mutant}.`)]),
    ...(checks.length === 0
      ? [make('p', { class: 'hint' }, 'No check is needed, because the attackers learn nothing useful.')]
      : [make('p', { class: 'hint' }, 'Checks of one-shot mode that stopped the attack:'), make('ul', {}, ...checks)]),
  );
}

function steps(schedule: string): HTMLElement {
  return make('ol', {}, ...schedule.split('; ').map((step) => make('li', {}, step)));
}
