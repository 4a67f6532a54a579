/** Judges the mutants of an area in an order drawn from a seed, and stores each result, so that an interrupted run continues. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { drawFrom } from '@basa/testkit/core/draw.ts';
import { ROOT } from '@basa/testkit/root.ts';
import { seededWords } from '@basa/virtual-time/simulation';
import type { Area } from './areas.ts';
import { type Mutant, mutantsOf } from './mutants.ts';
import { runMutants } from './run.ts';

/** `makes no difference`: no test reaches a value that the mutant changes. */
type Fate = 'noticed' | 'survived' | 'makes no difference';

export interface FileResult {
  readonly file: string;
  readonly mutants: number;
  readonly noticed: number;
  /** The number of mutants that have not been judged yet. */
  readonly unjudged: number;
  readonly survived: readonly (Mutant & { readonly fate: Fate })[];
}

export interface JudgeOptions {
  readonly area: Area;
  /** A part of the paths of the files; `''` for all. */
  readonly only: string;
  readonly seed: number;
  /** The largest number to judge. */
  readonly most: number;
  /** Only mutants that were judged before and survived. */
  readonly isSurvivorsOnly: boolean;
  readonly workers: number;
  /** The duration of the tests that are run for each. */
  readonly seconds: number;
  readonly known: KnownFates;
  progress(text: string): void;
}

/** Fates by change and by the tests that were run, in a file. */
export class KnownFates {
  readonly #path: string;
  readonly #fates: Record<string, { readonly fate: Fate; readonly tests: string }>;

  constructor(path: string, isFresh: boolean) {
    this.#path = path;
    this.#fates = !isFresh && existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
  }

  /** A mutant that a test noticed is not judged again. A mutant that survived is judged again when the tests have changed. */
  isSettled(name: string, tests: string): boolean {
    const known = this.#fates[name];
    return known !== undefined && (known.fate === 'noticed' || known.tests === tests);
  }

  fateOf(name: string): Fate | undefined {
    return this.#fates[name]?.fate;
  }

  add(name: string, fate: Fate, tests: string): void {
    this.#fates[name] = { fate, tests };
    mkdirSync(dirname(this.#path), { recursive: true });
    writeFileSync(`${this.#path}.new`, JSON.stringify(this.#fates));
    renameSync(`${this.#path}.new`, this.#path);
  }
}

export async function judgeArea({
  area,
  only,
  seed,
  most,
  isSurvivorsOnly,
  workers,
  seconds,
  known,
  progress,
}: JudgeOptions): Promise<readonly FileResult[]> {
  let first = 0;
  const sources = area.files
    .filter((file) => file.includes(only))
    .map((file) => {
      const source = { file, mutants: mutantsOf(read(file), area.readsOn), first };
      first += source.mutants.length;
      return source;
    });
  const asked = digest(...area.tests.map(read));
  const all = sources.flatMap(({ file, mutants }) => {
    const text = digest(read(file));
    return mutants.map((mutant) => ({
      ...mutant,
      file,
      name: digest(file, text, `${mutant.start} ${mutant.end} ${mutant.after}`),
    }));
  });
  const isOpen = (name: string): boolean =>
    !known.isSettled(name, asked) && (!isSurvivorsOnly || known.fateOf(name) !== undefined);
  const open = all.flatMap(({ name }, number) => (isOpen(name) ? [number] : []));
  const chosen = shuffled(open, seed).slice(0, most);
  let done = 0;
  await runMutants({
    sources,
    tests: area.tests,
    chosen,
    workers,
    seconds,
    onCoverage: (n, of) => progress(`file ${n} of ${of} without any change`),
    onJudged: ({ mutant, noticedBy, asked: tried }) => {
      const { file, line, name } = all[mutant] as (typeof all)[number];
      const fate = noticedBy !== null ? 'noticed' : tried > 0 ? 'survived' : 'makes no difference';
      known.add(name, fate, asked);
      progress(`${++done} of ${chosen.length}: ${file}, line ${line} ${fate}`);
    },
  });
  return sources.map(({ file }) => {
    const mine = all.filter((mutant) => mutant.file === file);
    const fates = mine.map((mutant) => ({ ...mutant, fate: known.fateOf(mutant.name) }));
    const survived = fates.flatMap(({ fate, ...mutant }) =>
      fate === undefined || fate === 'noticed' ? [] : [{ ...mutant, fate }],
    );
    return {
      file,
      mutants: mine.length,
      noticed: fates.filter(({ fate }) => fate === 'noticed').length,
      unjudged: fates.filter(({ fate }) => fate === undefined).length,
      survived,
    };
  });
}

/** Random order, so that an interrupted run has judged a fair sample. */
function shuffled(numbers: readonly number[], seed: number): readonly number[] {
  const draw = drawFrom(seededWords(seed));
  const left = [...numbers];
  for (let n = left.length - 1; n > 0; n--) {
    const other = draw.below(n + 1);
    [left[n], left[other]] = [left[other] as number, left[n] as number];
  }
  return left;
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

function digest(...texts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text);
  return hash.digest('hex').slice(0, 16);
}
