/** Policies: their text, their bounds, and that random trees open exactly for the sets that satisfy them. */
import {
  and,
  attribute,
  decrypt,
  encrypt,
  formatPolicy,
  freshKeyRandomness,
  keyGen,
  or,
  type Policy,
  PolicySyntaxError,
  parsePolicy,
  satisfies,
  setup,
  threshold,
} from '@basa/abe';
import { ascii } from '@basa/masking';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mclTools } from './tools.ts';
import { trees } from './trees.ts';

const [a, b, c, d, e] = ['a', 'b', 'c', 'd', 'e'].map((name) => attribute(name)) as [
  Policy,
  Policy,
  Policy,
  Policy,
  Policy,
];

describe('a policy as text', () => {
  it.each<[string, Policy]>([
    ['a', a],
    ['a and (b or 2 of (c, d, e))', and(a, or(b, threshold(2, c, d, e)))],
    ['a or b and c', or(a, and(b, c))],
    ['a and b and c', and(a, b, c)],
    ['(a and b) and c', and(and(a, b), c)],
    ['A AND b Or c', or(and(attribute('A'), b), c)],
    ['2 of (a, b or c, 1 of (d))', threshold(2, a, or(b, c), threshold(1, d))],
    ['2', attribute('2')],
    ['2 or 3', or(attribute('2'), attribute('3'))],
    [' ward:7.b-c_d\n and\t"and" ', and(attribute('ward:7.b-c_d'), attribute('and'))],
    ['"Zürich \\"x\\" \\\\"', attribute('Zürich "x" \\')],
    ['"\\x00\\xff"', attribute(Uint8Array.of(0, 255))],
    ['((((a))))', a],
  ])('%j is read as the tree it means', (text, policy) => {
    expect(parsePolicy(text)).toEqual(policy);
  });

  it.each<[string, number]>([
    ['', 0],
    ['a and', 5],
    ['a b', 2],
    ['(a or b', 7],
    ['a or b)', 6],
    ['a & b', 2],
    ['3 of (a, b)', 0],
    ['0 of (a)', 0],
    ['x of (a)', 0],
    ['2 of a', 5],
    ['1 of ()', 6],
    ['1 of (a,)', 8],
    ['1 of (a b)', 8],
    ['a and and', 6],
    ['"a', 0],
    ['""', 0],
    ['"\\q"', 1],
    ['a or\n  b and ?', 13],
    ['"\ud800"', 1],
  ])('%j is refused at the character that is wrong', (text, index) => {
    const error = errorOf(text);
    expect(error).toBeInstanceOf(PolicySyntaxError);
    expect(error).toHaveProperty('index', index);
  });

  it('shows the line with a caret below the character', () => {
    expect(errorOf('a or\n  b and ?')).toHaveProperty(
      'message',
      '"?" is not allowed here, at character 14\n    b and ?\n          ^',
    );
  });

  it('is bounded in depth and in leaves', () => {
    const nested = (levels: number): string => `${'1 of ('.repeat(levels)}a${')'.repeat(levels)}`;
    expect(parsePolicy(nested(31))).toBeDefined();
    expect(errorOf(nested(32))).toBeInstanceOf(PolicySyntaxError);
    expect(errorOf(nested(20_000))).toBeInstanceOf(PolicySyntaxError);
    const wide = (leaves: number): string => Array(leaves).fill('a').join(' or ');
    expect(parsePolicy(wide(1024))).toBeDefined();
    expect(errorOf(wide(1025))).toBeInstanceOf(PolicySyntaxError);
    expect(errorOf('x'.repeat(256))).toBeInstanceOf(PolicySyntaxError);
    expect(errorOf(`"${'x'.repeat(2 ** 20)}"`)).toBeInstanceOf(PolicySyntaxError);
  });

  it('is written with no more parentheses than it needs', () => {
    const text = 'a and (b or 2 of (c, d and e, "x y"))';
    expect(formatPolicy(parsePolicy(text))).toBe(text);
  });

  it('is written back as text that means the same tree', () => {
    const names = ['a', 'and', 'x y', 'Zürich', '"', '\\', 'OF', '7', Uint8Array.of(0, 200, 10)];
    fc.assert(
      fc.property(trees(names), (policy) => {
        expect(parsePolicy(formatPolicy(policy))).toEqual(policy);
      }),
    );
  });

  it('gives a policy or a PolicySyntaxError for any text', () => {
    const piece = fc.constantFrom('a', 'and', 'or', 'of', '2', '(', ')', ',', '"', '\\', ' ', '\n', 'ü', '\ud800');
    const text = fc.oneof(
      fc.string(),
      fc.array(piece).map((pieces) => pieces.join(' ')),
    );
    fc.assert(
      fc.property(text, (input) => {
        const error = errorOf(input);
        expect(error === undefined || error instanceof PolicySyntaxError).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('a random tree', async () => {
  const tools = await mclTools('trees');
  const { publicKey, masterKey } = setup(tools);
  const randomness = freshKeyRandomness(tools.randomBytes);
  const names = ['a', 'b', 'c', 'd', 'e'];
  const context = ascii('tree');
  const plaintext = ascii('leaf');

  it('opens exactly when the attributes satisfy it', () => {
    const set = fc.subarray(names, { minLength: 1 });
    fc.assert(
      fc.property(trees(names), set, (policy, attributes) => {
        const key = keyGen({ masterKey, attributes, randomness }, tools);
        const ciphertext = encrypt({ publicKey, policy, plaintext, context }, tools);
        const opened = decrypt({ ciphertext, key, context }, tools);
        const isSatisfied = isSatisfiedByDefinition(policy, new Set(attributes));
        expect(satisfies(policy, attributes.map(ascii))).toBe(isSatisfied);
        expect(opened).toEqual(
          isSatisfied ? { kind: 'opened', plaintext } : { kind: 'refused', reason: 'policy-not-satisfied' },
        );
      }),
      { numRuns: 60 },
    );
  });

  it('never opens to a key that claims a component it does not have', () => {
    const policy = and(a, b);
    const key = keyGen({ masterKey, attributes: ['a', 'c'], randomness }, tools);
    const claimed = {
      ...key,
      components: key.components.map((component, i) => (i === 1 ? { ...component, attribute: ascii('b') } : component)),
    };
    const ciphertext = encrypt({ publicKey, policy, plaintext, context }, tools);
    expect(decrypt({ ciphertext, key: claimed, context }, tools)).toEqual({ kind: 'refused', reason: 'not-authentic' });
  });

  it('is rejected by encrypt if it cannot be satisfied', () => {
    for (const policy of [
      threshold(3, a, b),
      threshold(0, a),
      threshold(1),
      threshold(1.5, a, b),
      { ...a, attribute: new Uint8Array(0) },
    ]) {
      expect(() => encrypt({ publicKey, policy: policy as Policy, plaintext, context }, tools)).toThrow(RangeError);
    }
  });
});

/** The definition in the paper, spelled out by counting over all children: shares nothing with `satisfies`. */
function isSatisfiedByDefinition(policy: Policy, held: ReadonlySet<string>): boolean {
  if (policy.kind === 'attribute') return held.has(Buffer.from(policy.attribute).toString());
  let count = 0;
  for (const child of policy.children) if (isSatisfiedByDefinition(child, held)) count += 1;
  return count >= policy.k;
}

function errorOf(text: string): unknown {
  try {
    parsePolicy(text);
    return undefined;
  } catch (error) {
    return error;
  }
}
