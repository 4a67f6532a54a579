/** Pictures to send and to show: a digit each, and their results. */

/** A digit, light on dark, in steps of 1/256: the quantiser keeps every value unchanged. */
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

/** Bars in the colour of the text around them, in any theme. */
export function drawHistogram(place: SVGElement, counts: Uint32Array): void {
  const most = Math.max(...counts, 1);
  const bars = Array.from(counts, (value, n) => `M${n} 1V${1 - value / most}h.8V1z`);
  const path = document.createElementNS(place.namespaceURI, 'path');
  path.setAttribute('d', bars.join(''));
  place.setAttribute('viewBox', `0 0 ${counts.length} 1`);
  place.setAttribute('preserveAspectRatio', 'none');
  place.replaceChildren(path);
}
