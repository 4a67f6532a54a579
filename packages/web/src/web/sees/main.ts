/** The page "What the server sees": ten digits go in, ten pictures of noise arrive, one sum comes out. */
import { ATTACK_WORDS, resultText } from '@basa/simulator/attacks';
import { chance, count, isEven } from '../shared/format.ts';
import { element, make, say, startPage } from '../shared/page.ts';
import { digitPicture, drawGrey, drawHistogram } from '../shared/pictures.ts';
import type { AttackNews, FromSees, ToSees } from './sees-messages.ts';

function attackView(attack: AttackNews): HTMLElement {
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

const SIDE = 48;
const DEVICES = 10;
const worker = new Worker('/sees-worker.js', { type: 'module' });
const tell = (message: ToSees): void => worker.postMessage(message);
startPage();

worker.addEventListener('message', ({ data }: MessageEvent<FromSees>) => {
  if (data.kind === 'upload') showUpload(data.device, data.vector);
  else if (data.kind === 'evenness') showEvenness(data);
  else if (data.kind === 'sum') showSum(data);
  else if (data.kind === 'attack') showAttack(data.attack);
  else if (data.kind === 'attacks-over') sumUpAttacks();
  else showFailure(data.message);
});
element('run').addEventListener('click', send);
element('play-attacks').addEventListener('click', playAttacks);
send();

function send(): void {
  element('uploads').replaceChildren();
  for (const id of ['bytes-card', 'sum-card']) element(id).hidden = true;
  element<HTMLButtonElement>('run').disabled = true;
  say(element('result'), 'The devices are uploading…');
  say(element('status'), 'Ten devices mask their pictures and upload…');
  const pictures = Array.from({ length: DEVICES }, (_, digit) => digitPicture(digit, SIDE));
  tell({ kind: 'run', pictures, side: SIDE });
}

function playAttacks(): void {
  element('paper-attacks').replaceChildren();
  element<HTMLButtonElement>('play-attacks').disabled = true;
  say(element('attack-status'), 'Running the attacks; each takes a moment…');
  tell({ kind: 'attacks' });
}

function showUpload(device: number, vector: Uint32Array): void {
  const [sent, seen] = [make('canvas'), make('canvas')];
  drawGrey(sent, digitPicture(device, SIDE), SIDE, 1);
  drawGrey(seen, vector, SIDE, 2 ** 32);
  for (const [canvas, label] of [
    [sent, `the picture of device ${device}`],
    [seen, 'noise'],
  ] as const) {
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', label);
  }
  const caption = make('figcaption', {}, `device ${device}`);
  element('uploads').append(make('li', {}, make('figure', {}, make('div', { class: 'pair' }, sent, seen), caption)));
  say(element('status'), `The server has ${device + 1} of ${DEVICES} uploads.`);
}

function showEvenness({ byteCounts, pValue, tests, tried }: Extract<FromSees, { readonly kind: 'evenness' }>): void {
  element('bytes-card').hidden = false;
  drawHistogram(element<SVGElement>('bytes'), byteCounts);
  const total = byteCounts.reduce((sum, times) => sum + times, 0);
  const isNoise = isEven(pValue) && tests.every(({ pValue: p }) => isEven(p));
  const verdict = element('evenness');
  verdict.dataset['learned'] = isNoise ? 'no' : 'yes';
  say(
    verdict,
    isNoise
      ? `The server’s ${count(total)} bytes look like pure noise in all ${count(tried)} tests of single uploads and of pairs.`
      : `There is a pattern in the server’s ${count(total)} bytes. Please report this.`,
  );
  say(
    element('tests-note'),
    `These are the least uniform results of ${count(tried)} tests. With that many tests, a result that pure noise shows once in ${count(tried)} tries is expected. y3 is the upload of device 3; sums and differences compare two uploads.`,
  );
  const rows = tests.map(({ name, pValue: p }) => make('tr', {}, make('td', {}, name), make('td', {}, chance(p))));
  element('tests').replaceChildren(...rows);
}

function showSum({ mean, isExact }: Extract<FromSees, { readonly kind: 'sum' }>): void {
  element('sum-card').hidden = false;
  drawGrey(element<HTMLCanvasElement>('sum'), mean, SIDE, Math.max(...mean));
  say(
    element('sum-text'),
    isExact
      ? 'All ten pictures on top of each other, exact in every value.'
      : 'The sum is not the sum of the pictures.',
  );
  say(element('status'), 'The batch is closed, and its sum is open.');
  say(element('result'), seenText(isExact));
  document.documentElement.dataset['sum'] = isExact ? 'exact' : 'wrong';
  element<HTMLButtonElement>('run').disabled = false;
}

function seenText(isExact: boolean): string {
  const isNoise = element('evenness').dataset['learned'] === 'no';
  if (!isNoise) return 'There is a pattern in the uploads. Please report this.';
  return isExact
    ? 'No. Every upload looks like pure noise, and the server can open only the sum of all ten pictures.'
    : 'No. Every upload looks like pure noise, but the sum is wrong.';
}

function showAttack(attack: AttackNews): void {
  element('paper-attacks').append(attackView(attack));
}

function sumUpAttacks(): void {
  const played = element('paper-attacks').children.length;
  const won = document.querySelectorAll('.verdict[data-learned="yes"]').length;
  say(
    element('attack-status'),
    `All ${played} attacks have run. ${won} of them succeeded against the paper’s protocol.`,
  );
  say(
    element('attack-result'),
    `${won} of ${played} attacks succeed against the paper’s protocol. One-shot mode refuses each of them.`,
  );
  element<HTMLButtonElement>('play-attacks').disabled = false;
}

function showFailure(message: string): void {
  element('status').classList.add('error');
  say(element('status'), `It failed: ${message}. Reload the page to try again.`);
}
