/** Outlines to pixels by signed areas: each edge adds the area it covers of a pixel and of everything to its right. */
import type { Contour } from './truetype.ts';

/** Coverage from 0 to 1 of a square image; y downwards, outlines in pixels. Overlaps count once. */
export function rasterise(contours: readonly Contour[], side: number): Float32Array {
  const cover = new Float32Array(side * (side + 2));
  for (const contour of contours) {
    for (let n = 0; n < contour.length; n++) {
      const [x0, y0] = contour[n] as readonly [number, number];
      const [x1, y1] = contour[(n + 1) % contour.length] as readonly [number, number];
      if (y0 < y1) addEdge(cover, side, x0, y0, x1, y1, 1);
      else if (y1 < y0) addEdge(cover, side, x1, y1, x0, y0, -1);
    }
  }
  const image = new Float32Array(side * side);
  for (let y = 0; y < side; y++) {
    let sum = 0;
    for (let x = 0; x < side; x++) {
      sum += cover[y * (side + 2) + x] as number;
      image[y * side + x] = Math.min(1, Math.abs(sum));
    }
  }
  return image;
}

/** Line by line: an edge that leaves a share of a pixel to its left gives the rest to the next pixel. */
function addEdge(
  cover: Float32Array,
  side: number,
  x0: number,
  y0: number,
  x1: number,
  y1: number,
  sign: number,
): void {
  const slope = (x1 - x0) / (y1 - y0);
  for (let y = Math.max(0, Math.floor(y0)); y < Math.min(side, Math.ceil(y1)); y++) {
    const top = Math.max(y, y0);
    const bottom = Math.min(y + 1, y1);
    // Within one line the edge is taken in steps short enough to stay near one pixel.
    const pieces = Math.max(1, Math.ceil(Math.abs(slope * (bottom - top)) * 2));
    const height = (bottom - top) / pieces;
    for (let piece = 0; piece < pieces; piece++) {
      const middle = x0 + slope * (top + (piece + 0.5) * height - y0);
      const x = Math.min(side, Math.max(0, middle));
      const pixel = Math.floor(x);
      const right = x - pixel;
      const at = y * (side + 2) + pixel;
      cover[at] = (cover[at] as number) + sign * height * (1 - right);
      cover[at + 1] = (cover[at + 1] as number) + sign * height * right;
    }
  }
}
