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

/** Of the file that is being collected. */
let tests: Test[] = [];
const path: string[] = [];

/** The tests of a file, in the order of its lines. */
export async function collected(file: TestFile): Promise<readonly Test[]> {
  const own: Test[] = [];
  tests = own;
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
  body();
  path.pop();
}

function addTest(name: string, body: () => unknown): void {
  tests.push({ name: [...path, name].join(' > '), body });
}

export const describe = Object.assign(addSuite, { each: eachOf(addSuite) });
export const it = Object.assign(addTest, { each: eachOf(addTest) });
export const test = it;
