/** The changes that mutation testing makes to a source, and their activation. */
import { describe, expect, it } from 'vitest';
import { mutantsOf, withSwitches } from '../../src/proofs/mutation/mutants.ts';

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
