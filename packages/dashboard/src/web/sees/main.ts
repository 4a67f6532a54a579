/** The page "What the server sees": ten digits go in, ten pictures of noise arrive, one sum comes out. */
import { element, make, say } from '../shared/dom.ts';
import { chance, count } from '../shared/format.ts';
import { digitPicture, drawGrey, drawHistogram } from '../shared/pictures.ts';
import { showAttack } from './attack-view.ts';
import type { AttackNews, FromSees, ToSees } from './sees-messages.ts';

const SIDE = 48;
const DEVICES = 10;
const worker = new Worker('/sees-worker.js', { type: 'module' });
const tell = (message: ToSees): void => worker.postMessage(message);
/** Attacks are told faster than they are shown. */
let showing: Promise<void> = Promise.resolve();

worker.addEventListener('message', ({ data }: MessageEvent<FromSees>) => {
  if (data.kind === 'upload') showUpload(data.slot, data.vector);
  else if (data.kind === 'evenness') showEvenness(data);
  else if (data.kind === 'sum') showSum(data);
  else if (data.kind === 'attack') queueAttack(data.attack, data.isLast);
  else say(element('status'), data.message);
});
element('run').addEventListener('click', () => {
  element('uploads').replaceChildren();
  element<HTMLButtonElement>('run').disabled = true;
  say(element('status'), 'ten devices seal seeds, take slots and upload…');
  const pictures = Array.from({ length: DEVICES }, (_, digit) => digitPicture(digit, SIDE));
  tell({ kind: 'run', pictures, side: SIDE });
});
element('play-attacks').addEventListener('click', () => {
  element('attacks').replaceChildren();
  element<HTMLButtonElement>('play-attacks').disabled = true;
  say(element('attack-status'), 'playing…');
  tell({ kind: 'attacks' });
});

function showUpload(slot: number, vector: Uint32Array): void {
  const [sent, seen] = [make('canvas'), make('canvas')];
  drawGrey(sent, digitPicture(slot, SIDE), SIDE, 1);
  drawGrey(seen, vector, SIDE, 2 ** 32);
  for (const [canvas, label] of [
    [sent, `the picture of device ${slot}`],
    [seen, 'noise'],
  ] as const) {
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', label);
  }
  const caption = make('figcaption', {}, `slot ${slot}`);
  element('uploads').append(make('li', {}, make('figure', {}, make('div', { class: 'pair' }, sent, seen), caption)));
  say(element('status'), `${slot + 1} of ${DEVICES} uploads are at the server`);
}

function showEvenness({ byteCounts, pValue, tests, tried }: Extract<FromSees, { readonly kind: 'evenness' }>): void {
  drawHistogram(element<SVGElement>('bytes'), byteCounts);
  const total = byteCounts.reduce((sum, times) => sum + times, 0);
  say(element('evenness'), `${count(total)} bytes against even: ${chance(pValue)}.`);
  const rows = tests.map(({ name, pValue: p }) => make('tr', {}, make('td', {}, name), make('td', {}, chance(p))));
  const hint = `of ${count(tried)} tests; about one in ${count(tried)} is expected to be below ${(1 / tried).toFixed(4)}`;
  element('tests').replaceChildren(...rows, make('tr', {}, make('td', { class: 'quiet', colspan: '2' }, hint)));
}

function showSum({ mean, isExact }: Extract<FromSees, { readonly kind: 'sum' }>): void {
  drawGrey(element<HTMLCanvasElement>('sum'), mean, SIDE, Math.max(...mean));
  say(
    element('sum-text'),
    isExact
      ? 'All ten pictures on top of each other, exact to the last unit.'
      : 'The sum is not the sum of the pictures.',
  );
  say(element('status'), 'The buffer is closed, and its sum has opened.');
  document.documentElement.dataset['sum'] = isExact ? 'exact' : 'wrong';
  element<HTMLButtonElement>('run').disabled = false;
}

function queueAttack(attack: AttackNews, isLast: boolean): void {
  showing = showing.then(async () => {
    await showAttack(element('attacks'), attack);
    if (!isLast) return;
    const lost = document.querySelectorAll('.verdict:last-child[data-learned="yes"]').length;
    say(
      element('attack-status'),
      `All attacks played. Against sealed mode ${lost === 0 ? 'none' : lost} learned anything.`,
    );
    element<HTMLButtonElement>('play-attacks').disabled = false;
  });
}
