/** An attack on the page: in plain words, its result against the paper's protocol, what stops it in one-shot mode, and the details below. */
import { ATTACK_WORDS, resultText } from '@basa/simulator/attacks';
import { make } from '../shared/dom.ts';
import type { AttackNews } from './sees-messages.ts';

export function attackView(attack: AttackNews): HTMLElement {
  const { title, story } = ATTACK_WORDS[attack.id] ?? { title: attack.id, story: '' };
  const { findings, isSumWrong } = attack.onPaper;
  const isBroken = findings.length > 0 || isSumWrong;
  const result = resultText({ findings, isSumWrong, hasSum: true });
  return make(
    'article',
    { class: 'attack', 'data-id': attack.id },
    make('h4', {}, title),
    make('p', {}, story),
    make(
      'div',
      { class: 'verdicts' },
      make(
        'p',
        { class: 'verdict', 'data-learned': isBroken ? 'yes' : 'no' },
        make('b', {}, 'The paper’s protocol'),
        `: ${result}.`,
      ),
    ),
    detailsOf(attack),
  );
}

/** The schedules, and the checks that refuse something in one-shot mode. */
function detailsOf({ id, schedule, inOneShot, checks }: AttackNews): HTMLElement {
  const refused = checks.map(({ by, reason, sentence }) =>
    make('li', {}, make('code', {}, reason), ` (the ${by}): ${sentence}`),
  );
  return make(
    'details',
    {},
    make('summary', {}, `Details of attack ${id}`),
    steps(schedule),
    make('p', { class: 'hint' }, 'In one-shot mode:'),
    steps(inOneShot),
    make('p', { class: 'hint' }, 'The checks that stop it there, as the project’s tests show:'),
    make('ul', {}, ...refused),
  );
}

function steps(schedule: string): HTMLElement {
  return make('ol', {}, ...schedule.split('; ').map((step) => make('li', {}, step)));
}
