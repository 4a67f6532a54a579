/** Plays an attack some times at a level; `none` of an attack that does not depend on noise is played against code without its rule. */
import { patchedOutput } from '../oracle/mutants.ts';
import { LEVELS, type Level, type Play, type Reading, type ReadingAttack } from './reading.ts';

export type Readings = Readonly<Record<Level, Reading>>;

export interface PlayOptions {
  readonly runs: number;
  readonly isSmall?: boolean;
  readonly signal?: AbortSignal;
  onRun?(level: Level, run: number): void;
}

export async function readingsOf(attack: ReadingAttack, { runs, isSmall = false, ...more }: PlayOptions) {
  const readings: Partial<Record<Level, Reading>> = {};
  for (const level of LEVELS) {
    let [read, of] = [0, 0];
    for (let run = 1; run <= runs; run++) {
      more.signal?.throwIfAborted();
      more.onRun?.(level, run);
      const one = await playOnce(attack, { level, seed: run, isSmall });
      [read, of] = [read + one.read, of + one.of];
    }
    readings[level] = { read, of };
  }
  return readings as Readings;
}

async function playOnce(attack: ReadingAttack, play: Play): Promise<Reading> {
  const { id, without } = attack;
  if (play.level !== 'none' || without === undefined) return attack.play(play);
  const told = await patchedOutput(without.edits, 'lab/src/readings/mutant.ts', [id, JSON.stringify(play)]);
  return JSON.parse(told) as Reading;
}

/** It works, and noise or the rule stops it. */
export function isAsPromised({ mayRead }: ReadingAttack, readings: Readings): boolean {
  return readings.none.read > 0 && LEVELS.every((level) => readings[level].read === 0 || mayRead.includes(level));
}
