/** An update in three pictures: as it was trained, as it was quantised, and as it leaves the device. */
import { chance, count, isEven } from '../shared/format.ts';
import { element, say } from '../shared/page.ts';
import { digitPicture, drawHistogram } from '../shared/pictures.ts';
import type { UpdateView } from './device-messages.ts';

const SIDE = 28;
const TILE = SIDE * SIDE;
const TILES = 10;
const GAP = 1;

/** Values are scaled by the size of most of them: below zero is one colour, above the other. */
function drawTiles(canvas: HTMLCanvasElement, values: Float64Array, rows: 1 | 2): void {
  const columns = TILES / rows;
  const place = (tile: number): readonly [x: number, y: number] => [
    (tile % columns) * (SIDE + GAP),
    Math.floor(tile / columns) * (SIDE + GAP),
  ];
  canvas.width = columns * (SIDE + GAP) - GAP;
  canvas.height = rows * (SIDE + GAP) - GAP;
  const context = canvas.getContext('2d');
  if (context === null || values.length === 0) return;
  const scale = spread(values);
  const colours = coloursOf(canvas);
  const picture = context.createImageData(canvas.width, canvas.height);
  for (let n = 0; n < Math.min(values.length, TILES * TILE); n++) {
    const [x, y] = place(Math.floor(n / TILE));
    const within = n % TILE;
    const at = 4 * ((y + Math.floor(within / SIDE)) * canvas.width + x + (within % SIDE));
    picture.data.set(colourOf(colours, Math.max(-1, Math.min(1, (values[n] as number) / scale))), at);
  }
  context.putImageData(picture, 0, 0);
}

/** Most values lie within it: a few large ones do not darken the rest. */
function spread(values: Float64Array): number {
  const sizes = values.map(Math.abs).sort();
  return sizes[Math.floor(0.98 * sizes.length)] || 1;
}

type Colour = readonly number[];

/** Of the page, in its theme: below zero, zero, above. */
function coloursOf(canvas: HTMLCanvasElement): readonly [Colour, Colour, Colour] {
  const style = getComputedStyle(canvas);
  const of = (name: string): Colour => {
    const hex = style.getPropertyValue(name).trim();
    return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  };
  return [of('--turns'), of('--card'), of('--accent')];
}

/** Orange below zero, blue above, the ground between: legible on light and dark pages and to the colour-blind. */
function colourOf(
  [below, zero, above]: readonly [Colour, Colour, Colour],
  strength: number,
): readonly [number, number, number, number] {
  const ink = strength < 0 ? below : above;
  const of = (channel: number): number => {
    const ground = zero[channel] ?? 0;
    return Math.round(ground + ((ink[channel] ?? 0) - ground) * Math.abs(strength));
  };
  return [of(0), of(1), of(2), 255];
}

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
