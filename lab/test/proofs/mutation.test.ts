/** The changes that mutation testing makes to a source, and their activation. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { ROOT } from '@basa/testkit/root.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { JudgedMutant } from '../../src/proofs/mutation/harness.ts';
import { mutantsOf, withSwitches } from '../../src/proofs/mutation/mutants.ts';
import { runMutants } from '../../src/proofs/mutation/run.ts';
import * as suites from '../../src/proofs/mutation/suites.ts';

const changesIn = (text: string, readsOn = false) =>
  mutantsOf(text, readsOn).map(({ before, after, isStep }) => `${before} => ${after}${isStep ? ' (step)' : ''}`);

describe('a mutant', () => {
  it('turns one condition, sum or call into its neighbour', () => {
    expect(changesIn('const a = b < c;')).toEqual(['b < c => (b <= c)']);
    expect(changesIn('const a = b.every(c);')).toEqual(['b.every(c) => b.some(c)']);
    expect(changesIn('if (a) b();')).toEqual(['a => false']);
  });

  it('does not change methods that have no opposite, including those of every object', () => {
    expect(changesIn('const a = b.toString(16) + c.hasOwnProperty("d");')).toEqual([
      'b.toString(16) + c.hasOwnProperty("d") => (b.toString(16) - c.hasOwnProperty("d"))',
    ]);
    expect(changesIn('b.toString(16); b.valueOf();')).toEqual([]);
  });

  it('of a source that reads bytes in order is a step exactly when it reads more', () => {
    const text = 'if (reader.u8() > 1) throw a; if (bytes.length > 2) throw b;';
    expect(changesIn(text, true)).toEqual([
      'reader.u8() > 1 => false (step)',
      'reader.u8() > 1 => (reader.u8() >= 1) (step)',
      'bytes.length > 2 => false',
      'bytes.length > 2 => (bytes.length >= 2)',
    ]);
  });

  it('is inactive in the source until its number is called', () => {
    const text = 'const a = b + c;';
    const switched = withSwitches(text, { mutants: mutantsOf(text), first: 7 });
    expect(switched).toBe('const a = globalThis.mutated(7, () => ((b - c)), () => (b + c));');
  });
});

it('the stand-in for Vitest runs the hooks of a test and of the suites around it, and ends a file before it is collected again', async () => {
  const did: string[] = [];
  const file = async (): Promise<void> => {
    suites.afterAll(() => did.push('end'));
    suites.beforeAll(() => did.push('begin'));
    suites.afterEach(() => did.push('after'));
    suites.describe('inner', () => {
      suites.beforeEach(() => did.push('before'));
      suites.it('fails', () => {
        suites.onTestFinished(() => did.push('finished'));
        throw new Error('as it should');
      });
    });
    suites.test('passes', () => did.push('passes'));
  };
  const tests = await suites.collected(file);
  await expect(tests[0]?.body()).rejects.toThrow('as it should');
  await tests[1]?.body();
  expect(did.splice(0)).toEqual(['begin', 'before', 'finished', 'after', 'passes', 'after']);
  await suites.collected(file);
  expect(did).toEqual(['end']);
});

it('a change after which a test waits for ever counts as noticed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'basa-mutation-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'waits.test.ts');
  const body = 'async () => { if (globalThis.isAwake(0)) await new Promise(() => undefined); }';
  writeFileSync(path, `import { it } from 'vitest';\nit('waits', ${body});\n`);
  const judged: JudgedMutant[] = [];
  await runMutants({
    sources: [],
    tests: [relative(ROOT, path)],
    chosen: [0],
    onJudged: (one) => judged.push(one),
    onCoverage: () => undefined,
  });
  expect(judged).toMatchObject([{ mutant: 0, noticedBy: 'it never ended' }]);
});
