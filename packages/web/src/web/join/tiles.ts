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
  const picture = context.createImageData(canvas.width, canvas.height);
  for (let n = 0; n < Math.min(values.length, TILES * TILE); n++) {
    const [x, y] = place(Math.floor(n / TILE));
    const within = n % TILE;
    const at = 4 * ((y + Math.floor(within / SIDE)) * canvas.width + x + (within % SIDE));
    picture.data.set(colourOf(Math.max(-1, Math.min(1, (values[n] as number) / scale))), at);
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
