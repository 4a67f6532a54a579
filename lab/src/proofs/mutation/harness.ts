/**
 * Runs all tests once to see in which of them a mutant would ever give another value than the original; the others run
 * alike with it and without. Then it wakes one mutant at a time and runs the tests in which it makes a difference, up to the
 * first that fails: those that noticed changes nearby first, then quick ones.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { collected, type Test, type TestFile } from './suites.ts';

/** One that is asked while modules are loaded must be awake before the first of them. */
let awake = Number(process.argv[5] ?? -1);
/** Mutants that gave another value since it was emptied; undefined once all tests are known. */
let different: Set<number> | undefined = awake < 0 ? new Set() : undefined;

/** Asked by the switched sources. Expressions of the core have no effect of their own, so both may be evaluated. */
function mutated<Value>(number: number, mutant: () => Value, original: () => Value): Value {
  if (different === undefined) return number === awake ? mutant() : original();
  const value = original();
  if (!different.has(number) && !isSame(mutant, value)) different.add(number);
  return value;
}

/** As `mutated`, of steps: only one of the two may happen, so that reaching it counts as a difference. */
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

/** So many times what a test took without a change, and this much besides: then the change has made an endless loop. */
const PATIENCE = 10;
const LEAST_PATIENCE_MS = 5_000;

/** Tests that take so long together, without a change, are asked of each mutant, and no more. */
const MOST_MS = 1000 * Number(process.argv[4]);

/** How long it took, and the mutants that make a difference in it. */
interface Reach {
  readonly ms: number;
  readonly mutants: readonly number[];
}

interface Coverage {
  /** Mutants that are asked while modules are loaded. */
  readonly atLoading: readonly number[];
  /** What setting the scene of each file reaches, and what each of its tests does. */
  readonly files: readonly (Reach & { readonly tests: readonly Reach[] })[];
}

/** Where a test is, and what is known of it. */
interface Place {
  readonly file: number;
  readonly test: number;
  /** With the scene of its file. */
  readonly ms: number;
  readonly reached: ReadonlySet<number>;
}

/** Which tests noticed which mutants. Numbers of mutants are near where their lines are. */
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
  /** The test that fails, or null where none does. */
  readonly noticedBy: string | null;
  /** Tests in which it makes a difference. */
  readonly asked: number;
}

/**
 * Judges the mutants, one line of output for each as soon as it is known. The first that is asked while modules are loaded ends the process
 * with no line, unless it was awake from the beginning: then every test is asked.
 */
export async function judgeMutants(
  files: readonly TestFile[],
  mutants: readonly number[],
  coverageFile: string,
): Promise<void> {
  const fromTheBeginning = awake;
  const isKnown = existsSync(coverageFile);
  const coverage: Coverage = isKnown ? JSON.parse(readFileSync(coverageFile, 'utf8')) : await coverageOf(files);
  if (!isKnown) writeFileSync(coverageFile, JSON.stringify(coverage)); // lanes read it side by side
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

/** Which share of what a test reaches is on nearby lines. */
function nearbyIn({ reached }: Place, mutant: number): number {
  const near = [...reached].filter((other) => Math.abs(other - mutant) <= NEARBY);
  return near.length / Math.max(1, reached.size);
}
const NEARBY = 20;

/** Scenes are set anew for each mutant: what another one has left behind would be held against it. */
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
