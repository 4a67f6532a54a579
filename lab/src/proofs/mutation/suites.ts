/** The stand-in for Vitest when mutants are judged: test files that can be collected as often as needed. */
import { format } from 'node:util';
import { chai, JestAsymmetricMatchers, JestChaiExpect, JestExtend } from '@vitest/expect';

chai.use(JestExtend);
chai.use(JestChaiExpect);
chai.use(JestAsymmetricMatchers);
export const expect = chai.expect;

export interface Test {
  readonly name: string;
  readonly body: () => unknown;
}

/** A file without its imports. Many have set-up code for their tests, which a mutant may affect. */
export type TestFile = () => Promise<void>;

type Hook = () => unknown;

/** The hooks of a suite. */
interface Scope {
  readonly before: Hook[];
  readonly after: Hook[];
}

/** Of the file that is being collected. */
let tests: Test[] = [];
let scopes: readonly Scope[] = [];
let ends: Hook[] = [];
const path: string[] = [];
/** The hooks that end the last collection of a file. */
const endsOf = new Map<TestFile, readonly Hook[]>();

/** The tests of a file, in the order of its lines. */
export async function collected(file: TestFile): Promise<readonly Test[]> {
  for (const hook of endsOf.get(file) ?? []) await hook();
  const own: Test[] = [];
  tests = own;
  scopes = [{ before: [], after: [] }];
  ends = [];
  endsOf.set(file, ends);
  path.length = 0;
  await file();
  return own;
}

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
  const outer = scopes;
  scopes = [...outer, { before: [], after: [] }];
  body();
  scopes = outer;
  path.pop();
}

function addTest(name: string, body: () => unknown): void {
  const around = scopes;
  const whole = async (): Promise<void> => {
    try {
      for (const hook of around.flatMap(({ before }) => before)) await hook();
      await body();
    } finally {
      for (const hook of [...finished.splice(0), ...around.flatMap(({ after }) => after).reverse()]) await hook();
    }
  };
  tests.push({ name: [...path, name].join(' > '), body: whole });
}

/** Of the test that is running. */
const finished: Hook[] = [];

export function onTestFinished(hook: Hook): void {
  finished.unshift(hook);
}

export function beforeEach(hook: Hook): void {
  scopes.at(-1)?.before.push(hook);
}

export function afterEach(hook: Hook): void {
  scopes.at(-1)?.after.push(hook);
}

export function beforeAll(hook: Hook): void {
  let done: Promise<unknown> | undefined;
  beforeEach(() => {
    done ??= Promise.resolve(hook());
    return done;
  });
}

export function afterAll(hook: Hook): void {
  ends.push(hook);
}

export const describe = Object.assign(addSuite, { each: eachOf(addSuite) });
export const it = Object.assign(addTest, { each: eachOf(addTest) });
export const test = it;
