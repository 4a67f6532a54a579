/** Outlines of letters from a WOFF file with TrueType glyphs (OpenType 1.9: cmap format 4, loca, glyf). */
import { inflateSync } from 'node:zlib';
import { DataError } from '@basa/learning/files';

/** A closed line of points, y upwards, in units of the em. */
export type Contour = readonly (readonly [x: number, y: number])[];

/** Straight pieces a curve is cut into. */
const CURVE_PIECES = 6;

export class Font {
  readonly #tables = new Map<string, DataView>();
  readonly #file: string;

  constructor(woff: Uint8Array, file: string) {
    this.#file = file;
    const view = new DataView(woff.buffer, woff.byteOffset, woff.length);
    if (woff.length < 44 || view.getUint32(0) !== 0x774f_4646) throw new DataError(file, 0, 'is not a WOFF file');
    for (let n = 0; n < view.getUint16(12); n++) {
      const entry = 44 + 20 * n;
      const tag = String.fromCharCode(...woff.subarray(entry, entry + 4));
      const [offset, stored, length] = [4, 8, 12].map((at) => view.getUint32(entry + at)) as [number, number, number];
      if (offset + stored > woff.length) throw new DataError(file, offset, `the table ${tag} is truncated`);
      const raw = woff.subarray(offset, offset + stored);
      const bytes = stored < length ? inflateSync(raw) : raw;
      this.#tables.set(tag, new DataView(bytes.buffer, bytes.byteOffset, bytes.length));
    }
  }

  /** The outline of a character; empty if the font does not have it. */
  outline(character: string): readonly Contour[] {
    const unitsPerEm = this.#table('head').getUint16(18);
    const contours = this.#glyph(this.#glyphIndex(character.charCodeAt(0)), 0);
    return contours.map((contour) => contour.map(([x, y]) => [x / unitsPerEm, y / unitsPerEm] as const));
  }

  #table(tag: string): DataView {
    const table = this.#tables.get(tag);
    if (table === undefined) throw new DataError(this.#file, 44, `has no table ${tag}`);
    return table;
  }

  #glyphIndex(code: number): number {
    const cmap = this.#table('cmap');
    for (let n = 0; n < cmap.getUint16(2); n++) {
      const at = cmap.getUint32(4 + 8 * n + 4);
      if (cmap.getUint16(at) === 4) return lookUp(cmap, at, code);
    }
    throw new DataError(this.#file, 'cmap', 'has no subtable of format 4');
  }

  #glyph(index: number, depth: number): readonly Contour[] {
    const loca = this.#table('loca');
    const isLong = this.#table('head').getInt16(50) === 1;
    const offset = (n: number): number => (isLong ? loca.getUint32(4 * n) : 2 * loca.getUint16(2 * n));
    if (offset(index) === offset(index + 1) || depth > 5) return [];
    const glyf = this.#table('glyf');
    const at = offset(index);
    const count = glyf.getInt16(at);
    return count >= 0 ? simpleGlyph(glyf, at + 10, count) : this.#composite(glyf, at + 10, depth);
  }

  /** Parts at offsets, perhaps scaled. */
  #composite(glyf: DataView, start: number, depth: number): readonly Contour[] {
    const contours: Contour[] = [];
    for (let at = start, more = true; more; ) {
      const flags = glyf.getUint16(at);
      const parts = this.#glyph(glyf.getUint16(at + 2), depth + 1);
      const wide = (flags & 1) !== 0;
      const dx = wide ? glyf.getInt16(at + 4) : glyf.getInt8(at + 4);
      const dy = wide ? glyf.getInt16(at + 6) : glyf.getInt8(at + 5);
      at += wide ? 8 : 6;
      const words = flags & 8 ? 1 : flags & 0x40 ? 2 : flags & 0x80 ? 4 : 0;
      const scale = Array.from({ length: words }, (_, n) => glyf.getInt16(at + 2 * n) / 16_384);
      const [xx = 1, b = xx, c = 0, d = 1] = scale;
      const [xy, yx, yy] = words === 4 ? [b, c, d] : [0, 0, b];
      contours.push(
        ...parts.map((part) => part.map(([x, y]) => [xx * x + yx * y + dx, xy * x + yy * y + dy] as const)),
      );
      at += 2 * words;
      more = (flags & 0x20) !== 0;
    }
    return contours;
  }
}

function lookUp(cmap: DataView, at: number, code: number): number {
  const segments = cmap.getUint16(at + 6) / 2;
  for (let n = 0; n < segments; n++) {
    if (code > cmap.getUint16(at + 14 + 2 * n)) continue;
    const startAt = at + 16 + 2 * segments + 2 * n;
    const start = cmap.getUint16(startAt);
    if (code < start) return 0;
    const delta = cmap.getUint16(startAt + 2 * segments);
    const rangeAt = startAt + 4 * segments;
    const range = cmap.getUint16(rangeAt);
    if (range === 0) return (code + delta) & 0xffff;
    const glyph = cmap.getUint16(rangeAt + range + 2 * (code - start));
    return glyph === 0 ? 0 : (glyph + delta) & 0xffff;
  }
  return 0;
}

interface Point {
  readonly x: number;
  readonly y: number;
  readonly onCurve: boolean;
}

function simpleGlyph(glyf: DataView, start: number, count: number): readonly Contour[] {
  const ends = Array.from({ length: count }, (_, n) => glyf.getUint16(start + 2 * n));
  const total = (ends.at(-1) ?? -1) + 1;
  let at = start + 2 * count;
  at += 2 + glyf.getUint16(at);
  const flags: number[] = [];
  while (flags.length < total) {
    const flag = glyf.getUint8(at++);
    const times = flag & 8 ? glyf.getUint8(at++) + 1 : 1;
    for (let n = 0; n < times; n++) flags.push(flag);
  }
  const read = (short: number, same: number): number[] => {
    let value = 0;
    return flags.map((flag) => {
      if (flag & short) value += flag & same ? glyf.getUint8(at++) : -glyf.getUint8(at++);
      else if (!(flag & same)) {
        value += glyf.getInt16(at);
        at += 2;
      }
      return value;
    });
  };
  const xs = read(2, 16);
  const ys = read(4, 32);
  const points = flags.map((flag, n) => ({ x: xs[n] ?? 0, y: ys[n] ?? 0, onCurve: (flag & 1) !== 0 }));
  return ends.map((end, n) => flatten(points.slice(n === 0 ? 0 : (ends[n - 1] ?? 0) + 1, end + 1)));
}

/** Quadratic curves as short lines; between two control points lies a point of the curve. */
function flatten(points: readonly Point[]): Contour {
  const whole: Point[] = [];
  for (const [n, point] of points.entries()) {
    const previous = points[(n + points.length - 1) % points.length] as Point;
    if (!point.onCurve && !previous.onCurve) {
      whole.push({ x: (point.x + previous.x) / 2, y: (point.y + previous.y) / 2, onCurve: true });
    }
    whole.push(point);
  }
  const line: [number, number][] = [];
  for (const [n, point] of whole.entries()) {
    if (point.onCurve) {
      line.push([point.x, point.y]);
      continue;
    }
    const from = whole[(n + whole.length - 1) % whole.length] as Point;
    const to = whole[(n + 1) % whole.length] as Point;
    for (let piece = 1; piece < CURVE_PIECES; piece++) {
      const t = piece / CURVE_PIECES;
      const [a, b, c] = [(1 - t) * (1 - t), 2 * t * (1 - t), t * t];
      line.push([a * from.x + b * point.x + c * to.x, a * from.y + b * point.y + c * to.y]);
    }
  }
  return line;
}
