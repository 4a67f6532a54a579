/** What stands in for Vitest where mutants are judged: suites, whose tests can be collected as often as needed. */
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

/** The outermost suites of all files. Many of them set a scene, which is part of what a mutant may change. */
export const suites: { readonly collect: () => readonly Test[] }[] = [];

/** Of the suite that is being collected. */
let tests: Test[] | undefined;
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
  if (tests === undefined) suites.push({ collect: () => collected(name, body) });
  else within(name, body);
}

function addTest(name: string, body: () => unknown): void {
  const test = { name: [...path, name].join(' > '), body };
  if (tests === undefined) suites.push({ collect: () => [test] });
  else tests.push(test);
}

function collected(name: string, body: () => unknown): readonly Test[] {
  const own: Test[] = [];
  tests = own;
  try {
    within(name, body);
  } finally {
    tests = undefined;
  }
  return own;
}

function within(name: string, body: () => unknown): void {
  path.push(name);
  try {
    body();
  } finally {
    path.pop();
  }
}

export const describe = Object.assign(addSuite, { each: eachOf(addSuite) });
export const it = Object.assign(addTest, { each: eachOf(addTest) });
