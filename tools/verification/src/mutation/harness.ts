/**
 * Runs all tests once to see in which of them a mutant would ever give another value than the original; the others run
 * alike with it and without. Then it wakes one mutant at a time and runs the tests in which it makes a difference, up to the
 * first that fails: those that noticed changes nearby first, then quick ones.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Test } from './suites.ts';
import { suites } from './suites.ts';

/** One that is asked while modules are loaded must be awake before the first of them. */
let awake = Number(process.argv[4] ?? -1);
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

/** How long it took, and the mutants that make a difference in it. */
interface Reach {
  readonly ms: number;
  readonly mutants: readonly number[];
}

interface Coverage {
  /** Mutants that are asked while modules are loaded. */
  readonly atLoading: readonly number[];
  /** What setting the scene of each suite reaches, and what each of its tests does. */
  readonly suites: readonly (Reach & { readonly tests: readonly Reach[] })[];
}

/** Where a test is, and what is known of it. */
interface Place {
  readonly suite: number;
  readonly test: number;
  /** With the scene of its suite. */
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
export async function judgeMutants(mutants: readonly number[], coverageFile: string): Promise<void> {
  const fromTheBeginning = awake;
  const isKnown = existsSync(coverageFile);
  const coverage: Coverage = isKnown ? JSON.parse(readFileSync(coverageFile, 'utf8')) : await coverageOfTests();
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
    const likely = noticers.nearTo(mutant).filter((place) => relevant.has(place));
    const failing = await firstFailing(mutant, [...new Set([...likely, ...relevant])]);
    if (failing !== undefined) noticers.add(mutant, failing);
    const noticedBy = failing === undefined ? null : `${failing.suite}.${failing.test}`;
    say({ mutant, noticedBy, asked: relevant.size });
    if (isLoaded) process.exit();
  }
}

async function coverageOfTests(): Promise<Coverage> {
  const atLoading = [...(different ?? [])];
  const seen: Coverage['suites'][number][] = [];
  for (const [suite, { collect }] of suites.entries()) {
    let tests: readonly Test[] = [];
    const scene = await reachOf(`suite ${suite}`, () => {
      tests = collect();
    });
    const reached: Reach[] = [];
    for (const { name, body } of tests) reached.push(await reachOf(name, body));
    seen.push({ ...scene, tests: reached });
    say({ suite: seen.length, of: suites.length });
  }
  return { atLoading, suites: seen };
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
  return coverage.suites.flatMap((scene, suite) =>
    scene.tests.map((own, test) => ({
      suite,
      test,
      ms: scene.ms + own.ms,
      reached: new Set([...scene.mutants, ...own.mutants]),
    })),
  );
}

/** Scenes are set anew for each mutant: what another one has left behind would be held against it. */
async function firstFailing(mutant: number, relevant: readonly Place[]): Promise<Place | undefined> {
  awake = mutant;
  const collected = new Map<number, readonly Test[]>();
  try {
    for (const place of relevant) {
      const { suite, test, ms } = place;
      say({ maxMs: LEAST_PATIENCE_MS + PATIENCE * ms });
      try {
        const tests = collected.get(suite) ?? suites[suite]?.collect() ?? [];
        collected.set(suite, tests);
        await tests[test]?.body();
      } catch {
        return place;
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
