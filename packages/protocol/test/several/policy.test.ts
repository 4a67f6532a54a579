/** The number of authorities that a task may name, and the number of them that it may need. */
import { ENGINE, isSealing, policyProblem, type TaskPolicy } from '@basa/protocol/policy';
import { nodeSuite } from '@basa/runtime/node';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';

const world = nodeFederation({ bufferSize: 4 });
const named = (count: number): readonly Uint8Array[] =>
  Array.from({ length: count }, (_, n) => nodeSuite.sha256(Uint8Array.of(n)));
const policy = (count: number, threshold: number, change: Partial<TaskPolicy> = {}): TaskPolicy => ({
  ...world.policy,
  authorities: named(count),
  threshold,
  ...change,
});

describe('a council', () => {
  it('is refused if it is empty, too large, names an authority twice, or needs more than it has', () => {
    expect(policyProblem(policy(0, 1))).toContain('at least one authority');
    expect(policyProblem(policy(4, 3, { authorities: [...named(3), ...named(1)] }))).toContain('named twice');
    expect(policyProblem(policy(17, 12))).toContain('cannot be written');
    expect(policyProblem(policy(4, 5))).toContain('threshold must be from 1 to the number of authorities (4), got 5');
    expect(policyProblem(policy(4, 0))).toContain('got 0');
  });

  it.each([2, 3, 5, 255])('is refused with engine %d, which nobody knows', (engine) => {
    expect(policyProblem(policy(1, 1, { engine }))).toBe(`engine ${engine} is not known`);
    expect(isSealing({ engine })).toBe(false);
  });
  it('of a transparent engine is for simulations only', () => {
    expect(isSealing({ engine: ENGINE.unsafeTransparent })).toBe(false);
    expect([ENGINE.cpAbe, ENGINE.oneShot].every((engine) => isSealing({ engine }))).toBe(true);
  });
  it.each([ENGINE.cpAbe, ENGINE.unsafeTransparent])('of several is refused with engine %d', (engine) => {
    expect(policyProblem(policy(1, 1, { engine, oneShot: undefined }))).toBeUndefined();
    expect(policyProblem(policy(4, 3, { engine, oneShot: undefined }))).toContain('need the one-shot mode');
  });
});

describe('a name', () => {
  const problemOf = (name: Uint8Array | string) =>
    policyProblem(policy(1, 1, { name: typeof name === 'string' ? new TextEncoder().encode(name) : name }));

  it.each(['', 'first', 'Größe 9 × 9', '手書き', '👩‍🔬'])('may be %j', (name) => {
    expect(problemOf(name)).toBeUndefined();
  });

  it.each([
    ['a lone continuation byte', [0x80]],
    ['a character that is cut', [0x61, 0xe2, 0x82]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['half of a surrogate pair', [0xed, 0xa0, 0x80]],
  ])('is not %s', (_, bytes) => {
    expect(problemOf(Uint8Array.from(bytes))).toBe('name must be UTF-8');
  });

  it.each([
    ['\u0000', 'U+0000'],
    ['two\nlines', 'U+000A'],
    ['\u001b[2J', 'U+001B'],
    ['\u0085', 'U+0085'],
    ['\u2028', 'U+2028'],
    ['abc\u202etxt', 'U+202E'],
  ])('is not %j', (name, named) => {
    expect(problemOf(name)).toContain(named);
  });
});
