import { readdirSync, readFileSync } from 'node:fs';
import { nodeSuite } from '@basa/runtime/node';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  defaultMinimum,
  isRefused,
  nextStepOf,
  type ProblemCode,
  problemOf,
  REFUSALS,
  refusalText,
  refused,
  SERVICE_PROBLEMS,
  type ServiceProblem,
  slotsToLeaveOut,
  stalenessWeight,
} from '../src/index.ts';
import { isInTree, merkleLevels, merklePath, merkleRoot } from '../src/wire/merkle.ts';
import type { Reason } from '../src/wire/refusals.ts';

describe('a Merkle tree', () => {
  const leaves = (count: number) =>
    Array.from({ length: count }, (_, n) => nodeSuite.sha256(Uint8Array.of(n & 255, n >> 8)));

  it('proves each leaf at its index, and at no other, for every size', () => {
    for (let count = 2; count <= 20; count++) {
      const hashes = leaves(count);
      const levels = merkleLevels(nodeSuite, hashes);
      const root = merkleRoot(nodeSuite, hashes);
      for (const [index, hash] of hashes.entries()) {
        const path = merklePath(levels, index);
        for (let claimed = 0; claimed < count; claimed++) {
          expect(isInTree(nodeSuite, root, { hash, index: claimed, count, path })).toBe(claimed === index);
        }
        expect(isInTree(nodeSuite, root, { hash, index, count, path: [...path, hash] })).toBe(false);
        expect(isInTree(nodeSuite, root, { hash, index, count, path: path.slice(0, -1) })).toBe(path.length === 0);
      }
    }
  });

  it('does not take a node for a leaf', () => {
    const hashes = leaves(4);
    const levels = merkleLevels(nodeSuite, hashes);
    const node = levels[1]?.[0] as Uint8Array;
    expect(
      isInTree(nodeSuite, merkleRoot(nodeSuite, hashes), {
        hash: node,
        index: 0,
        count: 4,
        path: [levels[1]?.[1] as Uint8Array],
      }),
    ).toBe(false);
  });
});

describe('slots left out for void edges', () => {
  it('are a smallest set that touches every edge, by comparison with all subsets', () => {
    const edge = fc.tuple(fc.nat(7), fc.nat(7)).filter(([a, b]) => a < b);
    fc.assert(
      fc.property(fc.array(edge, { maxLength: 14 }), (edges) => {
        const cover = slotsToLeaveOut(edges);
        expect(edges.every(([a, b]) => cover.includes(a) || cover.includes(b))).toBe(true);
        const covers = Array.from({ length: 256 }, (_, bits) => bits).filter((bits) =>
          edges.every(([a, b]) => (bits >> a) & 1 || (bits >> b) & 1),
        );
        const smallest = Math.min(...covers.map((bits) => bits.toString(2).replaceAll('0', '').length));
        expect(cover.length).toBe(smallest);
      }),
    );
  });

  it('are the liar who claims that nobody shared a mask with it, not the others', () => {
    expect(
      slotsToLeaveOut([
        [0, 5],
        [1, 5],
        [2, 5],
        [3, 5],
      ]),
    ).toEqual([5]);
  });

  it('are as few as possible up to twelve, although a choice of the busiest would leave out eighteen', () => {
    // Six paths of five slots whose middle one is the busiest and latest: the two beside it are enough.
    const edges = Array.from({ length: 6 }, (_, n) => {
      const [a, b, c, d, e] = [5 * n, 5 * n + 1, 100 + n, 5 * n + 2, 5 * n + 3] as [
        number,
        number,
        number,
        number,
        number,
      ];
      return [
        [a, b],
        [b, c],
        [c, d],
        [d, e],
      ] as const;
    }).flat();
    expect(slotsToLeaveOut(edges)).toHaveLength(12);
  });

  it('are still found when very many edges are void', () => {
    const edges = Array.from({ length: 40 }, (_, a) =>
      Array.from({ length: 40 }, (__, b) => [a, 40 + b] as const),
    ).flat();
    const cover = slotsToLeaveOut(edges);
    expect(edges.every(([a, b]) => cover.includes(a) || cover.includes(b))).toBe(true);
    expect(cover.length).toBeLessThanOrEqual(79);
  });
});

describe('staleness weights', () => {
  it('are 1 for a fresh update and never grow with staleness', () => {
    const functions = [
      { kind: 'constant' },
      { kind: 'polynomial', exponent: 0.5 },
      { kind: 'hinge', slope: 0.25, grace: 4 },
    ] as const;
    for (const staleness of functions) {
      expect(stalenessWeight(staleness, 0)).toBe(1);
      for (let tau = 1; tau < 50; tau++) {
        expect(stalenessWeight(staleness, tau)).toBeLessThanOrEqual(stalenessWeight(staleness, tau - 1));
        expect(stalenessWeight(staleness, tau)).toBeGreaterThan(0);
      }
    }
  });

  it('have the values of their formulas', () => {
    expect(stalenessWeight({ kind: 'polynomial', exponent: 0.5 }, 3)).toBe(0.5);
    expect(stalenessWeight({ kind: 'polynomial', exponent: 1 }, 3)).toBe(0.25);
    // By a root, to the last bit; the power differs in Node 20.
    expect(stalenessWeight({ kind: 'polynomial', exponent: 0.5 }, 2)).toBe(1 / Math.sqrt(3));
    expect(stalenessWeight({ kind: 'hinge', slope: 0.5, grace: 4 }, 4)).toBe(1);
    expect(stalenessWeight({ kind: 'hinge', slope: 0.5, grace: 4 }, 6)).toBe(0.5);
    expect(() => stalenessWeight({ kind: 'constant' }, -1)).toThrow('tau');
  });

  it('leave Kmin above the colluders to be withstood', () => {
    expect(defaultMinimum(10, 3)).toBe(8);
    expect(defaultMinimum(10, 8)).toBe(10);
    expect(defaultMinimum(3, 0)).toBe(3);
  });
});

describe('the table of refusals', () => {
  it('holds a sentence for every reason, and no unused reason', () => {
    const folder = new URL('../src/', import.meta.url);
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.ts') && !['wire/refusals.ts', 'http/next-steps.ts'].includes(name),
    );
    const source = files.map((name) => readFileSync(new URL(name, folder), 'utf8')).join('');
    const unused = Object.keys(REFUSALS).filter((reason) => !source.includes(`'${reason}'`));
    expect(unused).toEqual([]);
    for (const { sentence, status } of Object.values(REFUSALS)) {
      expect(sentence).toMatch(/^[A-Z].*\.$/);
      expect([403, 404, 409, 410, 422, 503]).toContain(status);
    }
  });

  it.each([...Object.keys(REFUSALS), ...Object.keys(SERVICE_PROBLEMS)] as ProblemCode[])(
    'is told to people as a sentence and a next step, never as a bare code: %s',
    (code) => {
      const next = nextStepOf(code);
      expect(next).toMatch(/^[A-Z`].{15,}\.$/);
      const { sentence, retry, resend } = problemOf(code);
      expect(next).not.toBe(sentence);
      if (retry === undefined && resend === undefined) expect(next).not.toContain('tries again by itself');
      expect(refusalText(code, 'slot 3')).toBe(`${sentence.slice(0, -1)} (slot 3). ${next}`);
    },
  );

  it('is told from every other answer by its kind', () => {
    expect(isRefused(refused('too-few'))).toBe(true);
    for (const answer of [undefined, null, 7, 'refused', {}, { kind: 'granted' }, new Uint8Array(3)])
      expect(isRefused(answer)).toBe(false);
  });

  it('allows a retry for every refusal with another seat or a fresh update, and no refusal has both', () => {
    const rows: Reason[] = [...Object.values(REFUSALS), ...Object.values(SERVICE_PROBLEMS)];
    const marked = rows.filter(({ anotherSeat, freshUpdate }) => anotherSeat || freshUpdate);
    expect(marked.filter(({ retry }) => !retry)).toEqual([]);
    expect(marked.filter(({ anotherSeat, freshUpdate }) => anotherSeat && freshUpdate)).toEqual([]);
    expect(marked.length).toBeGreaterThan(0);
  });

  it('allows to resend a request only if the refusal is temporary or concerns neither request nor update', () => {
    const rows = Object.keys(SERVICE_PROBLEMS).map((code) => problemOf(code as ServiceProblem));
    expect(rows.filter(({ resend, about }) => resend && about === 'request')).toEqual([]);
    expect(rows.filter(({ resend, about, retry }) => resend && about === 'update' && !retry)).toEqual([]);
  });
});
