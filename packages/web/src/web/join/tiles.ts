/** Ten pictures of an update, one for each class of a linear model: in one row, or in two if the page is narrow. */

export const SIDE = 28;
export const TILE = SIDE * SIDE;
export const TILES = 10;
const GAP = 1;

/** Values are scaled by the size of most of them: below zero is one colour, above the other. */
export function drawTiles(canvas: HTMLCanvasElement, values: Float64Array, rows: 1 | 2): void {
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
