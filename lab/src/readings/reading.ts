/**
 * An attack on what sums say: stock clients and services, every check passes, and the adversary chooses the model, the task or the devices.
 * It returns what it read; a referee that knows the truth counts what is right.
 */
import { defaultNoise } from '@basa/protocol/internal/wire/privacy.ts';
import type { Edit } from '../oracle/rules/rule.ts';

/** No noise; the default z at a small K; z = 1. */
export const LEVELS = ['none', 'blur', 'private'] as const;
export type Level = (typeof LEVELS)[number];

export interface Reading {
  /** What the adversary has right. */
  readonly read: number;
  readonly of: number;
}

export interface Play {
  readonly level: Level;
  readonly seed: number;
  /** A small world, for tests. */
  readonly isSmall: boolean;
}

export interface ReadingAttack {
  readonly id: string;
  /** Who does what. */
  readonly attack: string;
  /** What counts as read. */
  readonly counts: string;
  /** The batches of each level. */
  readonly sizes: string;
  /** Levels at which it may read something. */
  readonly mayRead: readonly Level[];
  /** It does not depend on noise: `none` is without the rule that stops it. */
  readonly without?: { readonly rule: string; readonly edits: readonly Edit[] };
  play(play: Play): Promise<Reading>;
}

/** z of a task at this level; undefined without noise. */
export function noiseAt(level: Level, sum: Parameters<typeof defaultNoise>[0]): number | undefined {
  if (level === 'none') return undefined;
  return level === 'blur' ? defaultNoise(sum) : 1;
}

export function cosine(a: Float32Array, b: Float32Array): number {
  let [ab, aa, bb] = [0, 0, 0];
  for (let n = 0; n < a.length; n++) {
    const [x, y] = [a[n] as number, b[n] as number];
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  return aa === 0 || bb === 0 ? 0 : ab / Math.sqrt(aa * bb);
}
