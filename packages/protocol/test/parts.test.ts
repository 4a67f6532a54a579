import { readdirSync, readFileSync } from 'node:fs';
import { isRefused, REFUSALS, refused } from '@basa/protocol';
import { type ProblemCode, refusalText } from '@basa/protocol/http';
import { nextStepOf, problemOf, SERVICE_PROBLEMS, type ServiceProblem } from '@basa/protocol/internal/http/problems.ts';
import { stalenessWeight } from '@basa/protocol/internal/wire/training.ts';
import { defaultMinimum } from '@basa/protocol/policy';
import { describe, expect, it } from 'vitest';
import type { Reason } from '../src/wire/refusals.ts';

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
    const folder = new URL('../../', import.meta.url);
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (name) =>
        /^(protocol|server|client)\/src\/.*\.ts$/.test(name) && !/(wire\/refusals|http\/next-steps)\.ts$/.test(name),
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
      expect(refusalText(code, 'position 3')).toBe(`${sentence.slice(0, -1)} (position 3). ${next}`);
    },
  );

  it('is told from every other answer by its kind', () => {
    expect(isRefused(refused('too-few'))).toBe(true);
    for (const answer of [undefined, null, 7, 'refused', {}, { kind: 'granted' }, new Uint8Array(3)])
      expect(isRefused(answer)).toBe(false);
  });

  it('allows a retry for every refusal that asks for a fresh update', () => {
    const rows: Reason[] = [...Object.values(REFUSALS), ...Object.values(SERVICE_PROBLEMS)];
    const marked = rows.filter(({ freshUpdate }) => freshUpdate);
    expect(marked.filter(({ retry }) => !retry)).toEqual([]);
    expect(marked.length).toBeGreaterThan(0);
  });

  it('allows to resend a request only if the refusal is temporary or concerns neither request nor update', () => {
    const rows = Object.keys(SERVICE_PROBLEMS).map((code) => problemOf(code as ServiceProblem));
    expect(rows.filter(({ resend, about }) => resend && about === 'request')).toEqual([]);
    expect(rows.filter(({ resend, about, retry }) => resend && about === 'update' && !retry)).toEqual([]);
  });
});
