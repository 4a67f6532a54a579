/** Learning and protocol each have a staleness function, since neither may import the other: they are the same one. */
import * as learning from '@basa/learning';
import * as protocol from '@basa/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const TAUS = [...Array.from({ length: 200 }, (_, n) => n), 999, 10_000, 1_000_000, 2 ** 31];

/** The two differ in their last bits at most: learning's power is exact on every engine, the protocol's is `**`. */
function expectSame(ofLearning: learning.Staleness, ofProtocol: protocol.Staleness, tau: number): void {
  const [a, b] = [learning.stalenessWeight(ofLearning, tau), protocol.stalenessWeight(ofProtocol, tau)];
  expect(Math.abs(a - b), `${JSON.stringify(ofProtocol)} at ${tau}: ${a} and ${b}`).toBeLessThanOrEqual(1e-13 * b);
}

describe('the staleness weight of an update is the same in learning and in the protocol', () => {
  it('constant', () => {
    for (const tau of TAUS) expectSame({ kind: 'constant' }, { kind: 'constant' }, tau);
  });

  it.each([0, 0.25, 0.5, 0.7, 1, 1.5, 2, 3])('polynomial with exponent %d', (exponent) => {
    for (const tau of TAUS) expectSame({ kind: 'polynomial', exponent }, { kind: 'polynomial', exponent }, tau);
  });

  it.each([0, 0.1, 0.5, 1, 10])('hinge with slope %d', (slope) => {
    for (const late of [0, 1, 4, 6.5, 100]) {
      for (const tau of TAUS) expectSame({ kind: 'hinge', slope, late }, { kind: 'hinge', slope, grace: late }, tau);
    }
  });

  it('for whatever parameters', () => {
    const tau = fc.nat({ max: 2 ** 31 - 1 });
    const parameter = fc.double({ min: 0, max: 8, noNaN: true });
    fc.assert(
      fc.property(tau, parameter, parameter, (at, first, late) => {
        expectSame({ kind: 'polynomial', exponent: first }, { kind: 'polynomial', exponent: first }, at);
        expectSame({ kind: 'hinge', slope: first, late }, { kind: 'hinge', slope: first, grace: late }, at);
      }),
    );
  });

  it('both take FedBuff to be the inverse square root', () => {
    for (const tau of TAUS) {
      expect(learning.stalenessWeight(learning.FEDBUFF_STALENESS, tau)).toBeCloseTo(1 / Math.sqrt(1 + tau), 15);
      expectSame(learning.FEDBUFF_STALENESS, { kind: 'polynomial', exponent: 0.5 }, tau);
    }
  });

  it('both refuse what is no staleness', () => {
    for (const tau of [-1, 0.5, Number.NaN]) {
      expect(() => learning.stalenessWeight({ kind: 'constant' }, tau)).toThrow(RangeError);
      expect(() => protocol.stalenessWeight({ kind: 'constant' }, tau)).toThrow(RangeError);
    }
  });
});
