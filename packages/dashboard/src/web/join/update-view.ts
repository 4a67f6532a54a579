/** An update in three pictures: as it was trained, as it was quantised, and as it leaves the device. */
import { element, say } from '../shared/dom.ts';
import { chance, count } from '../shared/format.ts';
import { drawHistogram } from '../shared/pictures.ts';
import type { UpdateView } from './device-messages.ts';

const SIDE = 28;
const TILE = SIDE * SIDE;
const TILES = 10;
const SAMPLES = 5;

/** Words that stand for numbers below zero. */
const signed = (word: number): number => word | 0;

export function drawUpdate({ floats, quantised, masked, byteCounts, pValue }: UpdateView): void {
  element('update').hidden = false;
  drawTiles(element<HTMLCanvasElement>('floats'), floats, (value) => value);
  drawTiles(element<HTMLCanvasElement>('quantised'), quantised, signed);
  drawTiles(element<HTMLCanvasElement>('masked'), masked, signed);
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
  drawHistogram(element<SVGElement>('byte-counts'), byteCounts);
  const total = byteCounts.reduce((sum, value) => sum + value, 0);
  say(
    element('evenness'),
    `${count(total)} bytes leave this device. Chi-square against even: ${chance(pValue)}; small values would mean a pattern.`,
  );
}

function middle<Words extends Float32Array | Uint32Array>(words: Words): Words {
  const start = Math.min(Math.max(0, words.length - SAMPLES), 5 * TILE + TILE / 2 + SIDE / 2);
  return words.slice(start, start + SAMPLES) as Words;
}

/** Ten pictures in a row: for a linear model, one for each class. Below zero is one colour, above the other. */
function drawTiles(
  canvas: HTMLCanvasElement,
  words: Float32Array | Uint32Array,
  numberOf: (word: number) => number,
): void {
  canvas.width = TILES * (SIDE + 1) - 1;
  canvas.height = SIDE;
  const context = canvas.getContext('2d');
  if (context === null || words.length === 0) return;
  const values = Float64Array.from(words.subarray(0, TILES * TILE), numberOf);
  const scale = spread(values);
  const picture = context.createImageData(canvas.width, SIDE);
  for (let n = 0; n < values.length; n++) {
    const [tile, place] = [Math.floor(n / TILE), n % TILE];
    const at = 4 * (Math.floor(place / SIDE) * canvas.width + tile * (SIDE + 1) + (place % SIDE));
    const strength = Math.max(-1, Math.min(1, (values[n] as number) / scale));
    picture.data.set(colourOf(strength), at);
  }
  context.putImageData(picture, 0, 0);
}

/** Most values lie within it: a few large ones do not darken the rest. */
function spread(values: Float64Array): number {
  const sizes = values.map(Math.abs).sort();
  return sizes[Math.floor(0.98 * sizes.length)] || 1;
}

/** Orange below zero, blue above, paper between: legible on light and dark pages and to the colour-blind. */
function colourOf(strength: number): readonly [number, number, number, number] {
  const [r, g, b] = strength < 0 ? [200, 85, 10] : [15, 85, 175];
  const mix = Math.abs(strength);
  const of = (channel: number): number => Math.round(246 + (channel - 246) * mix);
  return [of(r), of(g), of(b), 255];
}
