/** An update in three pictures: as it was trained, as it was quantised, and as it leaves the device. */
import { element, say } from '../shared/dom.ts';
import { chance, count, isEven } from '../shared/format.ts';
import { digitPicture, drawHistogram } from '../shared/pictures.ts';
import type { UpdateView } from './device-messages.ts';
import { drawTiles, SIDE, TILE, TILES } from './tiles.ts';

const SHOWN_NUMBERS = 5;
const EXAMPLE_LEVEL = 2 ** 16;
const EXAMPLE_SIZE = 2 ** 32;
const NARROW = matchMedia('(max-width: 40rem)');

type Pictured = Pick<UpdateView, 'floats' | 'quantised' | 'masked' | 'size'>;
let shown: Pictured | undefined;
NARROW.addEventListener('change', () => shown !== undefined && drawPictures(shown));

export function drawUpdate(view: UpdateView): void {
  say(
    element('update-note'),
    'One picture for each digit shows how your last round would change the model. The first two rows show the same strokes. Others get only the third row.',
  );
  shown = view;
  drawPictures(view);
  drawBytes(view);
}

/** Before a device has its own update: digits that this page draws, masked with random numbers of this browser. */
export function drawExample(): void {
  const floats = new Float32Array(TILES * TILE);
  for (let digit = 0; digit < TILES; digit++) floats.set(digitPicture(digit, SIDE), digit * TILE);
  const quantised = Uint32Array.from(floats, (value) => Math.round(value * EXAMPLE_LEVEL));
  const masks = crypto.getRandomValues(new Uint32Array(quantised.length));
  shown = { floats, quantised, masked: quantised.map((word, n) => word + (masks[n] as number)), size: EXAMPLE_SIZE };
  say(
    element('update-note'),
    'An example until you join, with ten digits instead of an update. The first two rows stay on the device. Others get only the third row, which is masked.',
  );
  drawPictures(shown);
}

function drawPictures({ floats, quantised, masked, size }: Pictured): void {
  const rows = NARROW.matches ? 2 : 1;
  /** Words in the upper half of the ring are negative numbers. */
  const signed = (word: number): number => (word < size / 2 ? word : word - size);
  const values = (words: ArrayLike<number>): Float64Array => Float64Array.from(words, signed);
  drawTiles(element<HTMLCanvasElement>('floats'), Float64Array.from(floats), rows);
  drawTiles(element<HTMLCanvasElement>('quantised'), values(quantised), rows);
  drawTiles(element<HTMLCanvasElement>('masked'), values(masked), rows);
  const numbers = (words: Float32Array | Uint32Array, write: (value: number) => string): string =>
    Array.from(middle(words), write).join('  ');
  say(
    element('floats-numbers'),
    floats.length === 0 ? 'trained before this tab was closed' : numbers(floats, (value) => value.toFixed(6)),
  );
  say(
    element('quantised-numbers'),
    numbers(quantised, (word) => count(signed(word))),
  );
  say(element('masked-numbers'), numbers(masked, count));
}

function drawBytes({ byteCounts, pValue }: UpdateView): void {
  element('bytes-sent').hidden = false;
  drawHistogram(element<SVGElement>('byte-counts'), byteCounts);
  const total = byteCounts.reduce((sum, value) => sum + value, 0);
  const verdict = element('evenness');
  verdict.dataset['learned'] = isEven(pValue) || Number.isNaN(pValue) ? 'no' : 'yes';
  say(verdict, `${count(total)} bytes leave this device. ${evennessText(pValue)}`);
}

function evennessText(pValue: number): string {
  if (Number.isNaN(pValue)) return 'That is too few bytes for a test.';
  return isEven(pValue)
    ? `They look like pure noise: random bytes are at least this uneven ${chance(pValue)}.`
    : 'They contain a pattern and do not look like noise. Please report this.';
}

function middle<Words extends Float32Array | Uint32Array>(words: Words): Words {
  const start = Math.min(Math.max(0, words.length - SHOWN_NUMBERS), 5 * TILE + TILE / 2 + SIDE / 2);
  return words.slice(start, start + SHOWN_NUMBERS) as Words;
}
