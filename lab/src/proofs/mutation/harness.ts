/**
 * Runs all tests once to find the tests in which a mutant would give a different value. Other tests do not depend on the mutant. Then it
 * activates one mutant at a time, and runs the tests that depend on it until one fails. Tests that noticed nearby changes run first, then
 * fast tests.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { collected, type Test, type TestFile } from './suites.ts';

/** A mutant that is evaluated while modules are loaded must be active before the first of them. */
let awake = Number(process.argv[5] ?? -1);
/** Mutants that gave another value since it was emptied; undefined once all tests are known. */
let different: Set<number> | undefined = awake < 0 ? new Set() : undefined;

/** Called by the switched sources. Expressions of the core have no side effects, so both may be evaluated. */
function mutated<Value>(number: number, mutant: () => Value, original: () => Value): Value {
  if (different === undefined) return number === awake ? mutant() : original();
  const value = original();
  if (!different.has(number) && !isSame(mutant, value)) different.add(number);
  return value;
}

/** Like `mutated`, for steps: only one of the two may happen, so reaching it counts as a difference. */
function isAwake(number: number): boolean {
  different?.add(number);
  return number === awake;
}
Object.assign(globalThis, { mutated, isAwake });

function isSame<Value>(mutant: () => Value, value: Value): boolean {
  try {
    const other = mutant();
    if (Array.isArray(other) && Array.isArray(value))
      return other.length === value.length && other.every((item, n) => item === value[n]);
    return other === value;
  } catch {
    return false;
  }
}

/** A test may take this many times its normal time, plus a constant: beyond that, the change has made an endless loop. */
const PATIENCE = 10;
const LEAST_PATIENCE_MS = 5_000;

/** The tests that are run for each mutant take at most this long together, without a change. */
const MOST_MS = 1000 * Number(process.argv[4]);

/** The duration of a test, and the mutants that make a difference in it. */
interface Reach {
  readonly ms: number;
  readonly mutants: readonly number[];
}

interface Coverage {
  /** Mutants that are evaluated while modules are loaded. */
  readonly atLoading: readonly number[];
  /** The mutants reached by the set-up of each file, and by each of its tests. */
  readonly files: readonly (Reach & { readonly tests: readonly Reach[] })[];
}

/** The place of a test, with its measurements. */
interface Place {
  readonly file: number;
  readonly test: number;
  /** Including the set-up of its file. */
  readonly ms: number;
  readonly reached: ReadonlySet<number>;
}

/** The tests that noticed each mutant. Mutants on neighbouring lines have neighbouring numbers. */
class Noticers {
  readonly #known: { readonly mutant: number; readonly place: Place }[] = [];

  add(mutant: number, place: Place): void {
    this.#known.push({ mutant, place });
  }

  nearTo(mutant: number): readonly Place[] {
    const far = (other: { readonly mutant: number }): number => Math.abs(other.mutant - mutant);
    return [...this.#known]
      .sort((a, b) => far(a) - far(b))
      .slice(0, MOST_NEIGHBOURS)
      .map(({ place }) => place);
  }
}
const MOST_NEIGHBOURS = 6;

export interface JudgedMutant {
  readonly mutant: number;
  /** The test that fails, or null if no test fails. */
  readonly noticedBy: string | null;
  /** The number of tests in which it makes a difference. */
  readonly asked: number;
}

/**
 * Judges the mutants, with one line of output for each as soon as it is known. The first that is evaluated while
 * modules are loaded ends the process without a line, unless it was active from the beginning: then every test is run.
 */
export async function judgeMutants(
  files: readonly TestFile[],
  mutants: readonly number[],
  coverageFile: string,
): Promise<void> {
  const fromTheBeginning = awake;
  const isKnown = existsSync(coverageFile);
  const coverage: Coverage = isKnown ? JSON.parse(readFileSync(coverageFile, 'utf8')) : await coverageOf(files);
  if (!isKnown) writeFileSync(coverageFile, JSON.stringify(coverage)); // parallel processes read it
  different = undefined;
  const quickFirst = placesOf(coverage).sort((a, b) => a.ms - b.ms);
  const atLoading = new Set(coverage.atLoading);
  const noticers = new Noticers();
  for (const mutant of mutants) {
    const isLoaded = atLoading.has(mutant);
    if (isLoaded && mutant !== fromTheBeginning) {
      say({ loaded: mutant });
      process.exit();
    }
    const relevant = new Set(quickFirst.filter(({ reached }) => isLoaded || reached.has(mutant)));
    const near = isLoaded
      ? [...relevant].sort((a, b) => nearbyIn(b, mutant) - nearbyIn(a, mutant))
      : noticers.nearTo(mutant);
    const likely = near.filter((place) => relevant.has(place));
    const failing = await firstFailing(files, mutant, [...new Set([...likely, ...relevant])]);
    if (failing !== undefined) noticers.add(mutant, failing.place);
    say({ mutant, noticedBy: failing?.name ?? null, asked: relevant.size });
    if (isLoaded) process.exit();
  }
}

async function coverageOf(files: readonly TestFile[]): Promise<Coverage> {
  const atLoading = [...(different ?? [])];
  const seen: Coverage['files'][number][] = [];
  for (const [n, file] of files.entries()) {
    let tests: readonly Test[] = [];
    const scene = await reachOf(`the scene of file ${n}`, async () => {
      tests = await collected(file);
    });
    const reached: Reach[] = [];
    for (const { name, body } of tests) reached.push(await reachOf(name, body));
    seen.push({ ...scene, tests: reached });
    say({ file: seen.length, of: files.length });
  }
  return { atLoading, files: seen };
}

async function reachOf(name: string, body: () => unknown): Promise<Reach> {
  const reached = new Set<number>();
  different = reached;
  const began = performance.now();
  try {
    await body();
  } catch (error) {
    throw new Error(`"${name}" fails without any change`, { cause: error });
  }
  return { ms: performance.now() - began, mutants: [...reached] };
}

function placesOf(coverage: Coverage): Place[] {
  return coverage.files.flatMap((scene, file) =>
    scene.tests.map((own, test) => ({
      file,
      test,
      ms: scene.ms + own.ms,
      reached: new Set([...scene.mutants, ...own.mutants]),
    })),
  );
}

/** The share of a test's reached mutants that are on nearby lines. */
function nearbyIn({ reached }: Place, mutant: number): number {
  const near = [...reached].filter((other) => Math.abs(other - mutant) <= NEARBY);
  return near.length / Math.max(1, reached.size);
}
const NEARBY = 20;

/** The set-up runs again for each mutant, so that the remains of another one cannot fail it. */
async function firstFailing(
  files: readonly TestFile[],
  mutant: number,
  relevant: readonly Place[],
): Promise<{ readonly place: Place; readonly name: string } | undefined> {
  awake = mutant;
  const known = new Map<number, readonly Test[]>();
  try {
    let spentMs = 0;
    for (const place of relevant) {
      const { file, test, ms } = place;
      spentMs += ms;
      if (spentMs > MOST_MS) break;
      say({ maxMs: LEAST_PATIENCE_MS + PATIENCE * ms });
      let name = `the scene of file ${file}`;
      try {
        const tests = known.get(file) ?? (await collected(files[file] as TestFile));
        known.set(file, tests);
        const one = tests[test];
        name = one?.name ?? name;
        await one?.body();
      } catch {
        return { place, name };
      }
    }
  } finally {
    awake = -1;
  }
  return undefined;
}

function say(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
