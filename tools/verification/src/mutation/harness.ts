/**
 * What stands in for Vitest where mutants are judged: it collects the tests and runs them once to see in which of them a
 * mutant would ever give another value than the original; the others run alike with it and without. Then it wakes one
 * mutant at a time and runs the tests in which it makes a difference, up to the first that fails: those that noticed
 * changes nearby first, then quick ones.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { format } from 'node:util';
import { chai, JestAsymmetricMatchers, JestChaiExpect, JestExtend } from '@vitest/expect';

chai.use(JestExtend);
chai.use(JestChaiExpect);
chai.use(JestAsymmetricMatchers);
export const expect = chai.expect;

interface Test {
  readonly name: string;
  readonly body: () => unknown;
}

const tests: Test[] = [];
const path: string[] = [];

type Body = (...row: never[]) => unknown;

function eachOf(one: (name: string, body: () => unknown) => void) {
  return (rows: readonly unknown[]) => (name: string, body: Body) => {
    for (const row of rows) {
      const values = (Array.isArray(row) ? row : [row]) as never[];
      one(format(name, ...values), () => body(...values));
    }
  };
}

function addSuite(name: string, body: () => unknown): void {
  path.push(name);
  body();
  path.pop();
}

function addTest(name: string, body: () => unknown): void {
  tests.push({ name: [...path, name].join(' > '), body });
}

export const describe = Object.assign(addSuite, { each: eachOf(addSuite) });
export const it = Object.assign(addTest, { each: eachOf(addTest) });

/** One that is asked while modules are loaded must be awake before the first of them. */
let awake = Number(process.argv[4] ?? -1);
/** Mutants that gave another value in this test; undefined once all tests are known. */
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

interface Coverage {
  /** Mutants that are asked while modules are loaded. */
  readonly atLoading: readonly number[];
  readonly tests: readonly { readonly ms: number; readonly mutants: readonly number[] }[];
}

/** Which tests noticed which mutants. Numbers of mutants are near where their lines are. */
class Noticers {
  readonly #known: { readonly mutant: number; readonly test: number }[] = [];

  add(mutant: number, test: number): void {
    this.#known.push({ mutant, test });
  }

  nearTo(mutant: number): readonly number[] {
    const far = (other: { readonly mutant: number }): number => Math.abs(other.mutant - mutant);
    return [...this.#known]
      .sort((a, b) => far(a) - far(b))
      .slice(0, MOST_NEIGHBOURS)
      .map(({ test }) => test);
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
  const coverage: Coverage = isKnown
    ? JSON.parse(readFileSync(coverageFile, 'utf8'))
    : { atLoading: [...(different ?? [])], tests: await coverageOfTests() };
  if (!isKnown) writeFileSync(coverageFile, JSON.stringify(coverage)); // lanes read it side by side
  different = undefined;
  const order = coverage.tests.map((_, n) => n).sort((a, b) => msOf(coverage, a) - msOf(coverage, b));
  const atLoading = new Set(coverage.atLoading);
  const noticers = new Noticers();
  for (const mutant of mutants) {
    const isLoaded = atLoading.has(mutant);
    if (isLoaded && mutant !== fromTheBeginning) {
      say({ loaded: mutant });
      process.exit();
    }
    const relevant = new Set(order.filter((n) => isLoaded || coverage.tests[n]?.mutants.includes(mutant)));
    const likely = noticers.nearTo(mutant).filter((n) => relevant.has(n));
    const failing = await firstFailing(mutant, [...new Set([...likely, ...relevant])], coverage);
    if (failing !== undefined) noticers.add(mutant, failing);
    say({ mutant, noticedBy: failing === undefined ? null : tests[failing]?.name, asked: relevant.size });
    if (isLoaded) process.exit();
  }
}

async function coverageOfTests(): Promise<Coverage['tests']> {
  const seen: Coverage['tests'][number][] = [];
  for (const { name, body } of tests) {
    different = new Set();
    const began = performance.now();
    try {
      await body();
    } catch (error) {
      throw new Error(`"${name}" fails without any change`, { cause: error });
    }
    seen.push({ ms: performance.now() - began, mutants: [...different] });
    say({ test: seen.length, of: tests.length });
  }
  return seen;
}

async function firstFailing(
  mutant: number,
  relevant: readonly number[],
  coverage: Coverage,
): Promise<number | undefined> {
  awake = mutant;
  try {
    for (const n of relevant) {
      say({ asks: n, maxMs: LEAST_PATIENCE_MS + PATIENCE * msOf(coverage, n) });
      try {
        await tests[n]?.body();
      } catch {
        return n;
      }
    }
  } finally {
    awake = -1;
  }
  return undefined;
}

function msOf(coverage: Coverage, test: number): number {
  return coverage.tests[test]?.ms ?? 0;
}

function say(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
