/**
 * SYNTHETIC stand-in for FEMNIST: users who "write" with a handwriting font, each in a style of their own. Not people's
 * handwriting; 62 classes, 28 x 28, ink = 1, any number of users, everything fixed by seed and user.
 */

import { type CacheOptions, openCache } from '@basa/cli/internal/data/cache.ts';
import { type Dataset, type RandomStream, randomStream } from '@basa/learning';
import { loadHandwritingFonts } from './handwriting-fonts.ts';
import { rasterise } from './raster.ts';
import type { Contour, Font } from './truetype.ts';

const LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SIDE = 28;
const INK_SIDE = 20;

/** Mean and deviation of all pixels; without them the first buffers are spent on learning them. */
const NORMAL = { mean: [0.12], deviation: [0.28] };

/** Examples a user has: lognormal with this mean, within bounds. */
const MEAN_EXAMPLES = 200;
const SPREAD = 0.4;
const MIN_EXAMPLES = 20;
const MAX_EXAMPLES = 500;

interface Style {
  readonly font: Font;
  readonly slant: number;
  readonly turn: number;
  readonly aspect: number;
  readonly wobble: number;
  readonly size: number;
  readonly pen: number;
  /** Relative frequency of each class. */
  readonly profile: readonly number[];
}

export interface FontWriters {
  readonly name: string;
  /** The number of examples of a user. */
  count(user: number): number;
  /** Returns one user's examples, or the first `most` of them; every call makes them again and gives the same ones. */
  user(user: number, most?: number): Dataset;
  /** Examples that no user trains on, `perUser` from each of the first `users`. */
  test(users: number, perUser: number): Dataset;
}

interface WritersOptions extends CacheOptions {
  /** The classes that a user trains on; all of them by default. */
  readonly isOwn?: (user: number, label: number) => boolean;
}

export async function loadFontWriters(seed: number, options: WritersOptions = {}): Promise<FontWriters> {
  const { isOwn = () => true } = options;
  const fonts = await loadHandwritingFonts(openCache(options));
  const outlines = new Map<Font, readonly (readonly Contour[])[]>();
  const name = `font writers${options.isOwn === undefined ? '' : ' with classes of their own'} (synthetic stand-in for FEMNIST)`;
  const write = (user: number, split: 'train' | 'test', count: number): Dataset => {
    const whole = styleOf(user, fonts, randomStream(seed, 'style', user));
    const profile = whole.profile.map((share, label) => (split === 'test' || isOwn(user, label) ? share : 0));
    const style = { ...whole, profile };
    let letters = outlines.get(style.font);
    if (letters === undefined) {
      letters = [...LETTERS].map((letter) => style.font.outline(letter));
      outlines.set(style.font, letters);
    }
    return writeExamples(name, style, letters, count, randomStream(seed, split, user));
  };
  const count = (user: number): number => exampleCount(randomStream(seed, 'count', user));
  return {
    name,
    count,
    user: (user, most = Number.POSITIVE_INFINITY) => write(user, 'train', Math.min(most, count(user))),
    test: (users, perUser) =>
      join(
        name,
        Array.from({ length: users }, (_, user) => write(user, 'test', perUser)),
      ),
  };
}

function exampleCount(random: RandomStream): number {
  const logarithm = Math.log(MEAN_EXAMPLES) - SPREAD ** 2 / 2 + SPREAD * random.normal();
  return Math.round(Math.min(MAX_EXAMPLES, Math.max(MIN_EXAMPLES, Math.exp(logarithm))));
}

function styleOf(user: number, fonts: readonly Font[], random: RandomStream): Style {
  const around = (middle: number, spread: number): number =>
    middle + spread * Math.max(-2, Math.min(2, random.normal()));
  return {
    font: fonts[user % fonts.length] as Font,
    slant: around(0, 0.15),
    turn: around(0, 0.07),
    aspect: around(1, 0.12),
    wobble: Math.abs(around(0, 0.025)),
    size: around(INK_SIDE, 0.8),
    pen: around(1.2, 0.25),
    // Everyone fills in the same form, as for NIST: digits four times as frequent as letters, users differ mildly.
    profile: [...LETTERS].map((_, label) => (label < 10 ? 4 : 1) * (0.5 + 0.5 * random.exponential())),
  };
}

function writeExamples(
  name: string,
  style: Style,
  letters: readonly (readonly Contour[])[],
  count: number,
  random: RandomStream,
): Dataset {
  const inputs = new Uint8Array(count * SIDE * SIDE);
  const labels = new Uint8Array(count);
  const total = style.profile.reduce((sum, share) => sum + share, 0);
  for (let n = 0; n < count; n++) {
    const label = drawClass(style.profile, random.unit() * total);
    labels[n] = label;
    const image = rasterise(placed(distorted(letters[label] ?? [], style, random), style.size), SIDE);
    for (let at = 0; at < image.length; at++) {
      inputs[n * image.length + at] = Math.round(255 * Math.min(1, style.pen * soft(image, at)));
    }
  }
  return {
    name,
    shape: { height: SIDE, width: SIDE, channels: 1 },
    classes: LETTERS.length,
    inputs,
    labels,
    normal: NORMAL,
  };
}

function drawClass(profile: readonly number[], place: number): number {
  let left = place;
  for (const [label, share] of profile.entries()) {
    left -= share;
    if (left < 0) return label; // never one whose share is zero
  }
  return profile.length - 1;
}

/** Slant, turn and aspect of the writer with a little of the moment, and a smooth wave through the paper. */
function distorted(contours: readonly Contour[], style: Style, random: RandomStream): readonly Contour[] {
  const slant = style.slant + 0.05 * random.normal();
  const turn = style.turn + 0.04 * random.normal();
  const aspect = style.aspect * (1 + 0.05 * random.normal());
  const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
  const wave = Array.from({ length: 4 }, () => 2 * Math.PI * random.unit());
  const amplitude = style.wobble + 0.012;
  const bend = (along: number, n: number): number => amplitude * Math.sin(7 * along + (wave[n] as number));
  return contours.map((contour) =>
    contour.map(([x, y]) => {
      const [bentX, bentY] = [x + bend(y, 0) + bend(x / 2, 1), y + bend(x, 2) + bend(y / 2, 3)];
      const leaning = aspect * (bentX + slant * bentY);
      return [cos * leaning - sin * bentY, sin * leaning + cos * bentY] as const;
    }),
  );
}

/** Scaled so that the longer side is `size` pixels, and centred; y now downwards. */
function placed(contours: readonly Contour[], size: number): readonly Contour[] {
  const points = contours.flat();
  if (points.length === 0) return [];
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  const [left, right, bottom, top] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const scale = size / Math.max(right - left, top - bottom, 1e-6);
  const [middleX, middleY] = [(left + right) / 2, (bottom + top) / 2];
  return contours.map((contour) =>
    contour.map(([x, y]) => [SIDE / 2 + scale * (x - middleX), SIDE / 2 - scale * (y - middleY)] as const),
  );
}

/** A pixel with a little of its neighbours: ink runs. */
function soft(image: Float32Array, at: number): number {
  const beside = (image[at - 1] ?? 0) + (image[at + 1] ?? 0) + (image[at - SIDE] ?? 0) + (image[at + SIDE] ?? 0);
  return 0.68 * (image[at] as number) + 0.08 * beside;
}

function join(name: string, parts: readonly Dataset[]): Dataset {
  const [first] = parts;
  if (first === undefined) throw new RangeError('no user to write');
  const inputs = Buffer.concat(parts.map((part) => part.inputs as Uint8Array));
  return {
    ...first,
    name: `${name}, test`,
    inputs,
    labels: Buffer.concat(parts.map((part) => part.labels as Uint8Array)),
  };
}
