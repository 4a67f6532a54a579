/** Pictures to send and to show: a digit each, and what became of them. */

/** A digit, light on dark, in steps of 1/256: the quantiser keeps every value as it is. */
export function digitPicture(digit: number, side: number): Float32Array {
  const canvas = new OffscreenCanvas(side, side);
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('this browser cannot draw');
  context.fillStyle = 'white';
  context.font = `bold ${Math.round(0.95 * side)}px sans-serif`;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillText(String(digit), side / 2, side / 2 + side / 16);
  const { data } = context.getImageData(0, 0, side, side);
  return Float32Array.from({ length: side * side }, (_, n) => (data[4 * n + 3] as number) / 256);
}

/** Values from 0 to `most` as shades of grey. */
export function drawGrey(canvas: HTMLCanvasElement, values: ArrayLike<number>, side: number, most: number): void {
  canvas.width = side;
  canvas.height = side;
  const context = canvas.getContext('2d');
  if (context === null) return;
  const picture = context.createImageData(side, side);
  for (let n = 0; n < side * side; n++) {
    const shade = Math.max(0, Math.min(255, Math.round((255 * (values[n] as number)) / most)));
    picture.data.set([shade, shade, shade, 255], 4 * n);
  }
  context.putImageData(picture, 0, 0);
}

export function drawHistogram(canvas: HTMLCanvasElement, counts: Uint32Array): void {
  const height = 64;
  canvas.width = 2 * counts.length;
  canvas.height = height;
  const context = canvas.getContext('2d');
  if (context === null) return;
  context.fillStyle = getComputedStyle(canvas).color;
  const most = Math.max(...counts, 1);
  for (const [byte, value] of counts.entries()) {
    const bar = Math.round((height * value) / most);
    context.fillRect(2 * byte, height - bar, 1.5, bar);
  }
}
