/** Every protocol: the exact sum of its members if the thresholds hold, a clear refusal otherwise. */
import { FIELD, integerWeight, ring, toResidue } from '@basa/masking';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AggregationProtocol, type Message, NOBODY_LISTENS, type Observer } from '../src/aggregation.ts';
import { fedmlCode, publishedCode, SYNCHRONISATION_READINGS } from '../src/lightsecagg/parameters.ts';
import { bufferedLightSecAgg, lightSecAgg } from '../src/lightsecagg/round.ts';
import { plainAggregation } from '../src/plain.ts';
import { REFUSALS } from '../src/refusals.ts';
import { secAgg, secAggPlus } from '../src/secagg/round.ts';
import { inputsFrom, slowSum, toolsFrom } from './support.ts';

const RISK = { corrupt: 0.05, dropped: 0.05, securityBits: 8, correctnessBits: 4 };
const BUFFERED = { codeFor: publishedCode, weightScale: 1, weightOf: () => 1, inputBound: 1000 };

function protocols(seed: number, users: number): AggregationProtocol[] {
  const tools = toolsFrom(seed);
  const reading = SYNCHRONISATION_READINGS.sequential;
  return [
    plainAggregation(tools),
    secAgg(tools),
    secAggPlus(tools, RISK),
    lightSecAgg(tools, publishedCode),
    lightSecAgg(tools, fedmlCode, 'LightSecAgg, U = N'),
    bufferedLightSecAgg(tools, { ...BUFFERED, bufferSize: users, reading }),
  ];
}

const stays = (): undefined => undefined;

describe('without drop-outs', () => {
  it.each([2, 3, 9])('every protocol gives the plain sum of %d users, bit for bit', (users) => {
    const inputs = inputsFrom(users, users, 33);
    for (const protocol of protocols(users, users)) {
      const found = protocol.aggregate({ inputs, leavesBefore: stays });
      expect(found, protocol.name).toMatchObject({ kind: 'sum', included: inputs.map((_, user) => user) });
      if (found.kind === 'sum') expect([...found.sum], protocol.name).toEqual(slowSum(inputs, found.included));
    }
  });

  it('SecAgg works in a ring as well', () => {
    const modulus = ring(20);
    const inputs = [5, -7, 9].map((value) => Uint32Array.of(toResidue(value, modulus)));
    const found = secAgg(toolsFrom(3), { modulus }).aggregate({ inputs, leavesBefore: stays });
    expect(found).toMatchObject({ kind: 'sum', sum: Uint32Array.of(7) });
  });
});

describe('with drop-outs anywhere', () => {
  const cases = fc.record({
    seed: fc.nat(),
    users: fc.integer({ min: 2, max: 8 }),
    leaves: fc.array(fc.option(fc.nat(3), { freq: 2 }), { minLength: 12, maxLength: 12 }),
  });

  it('a protocol gives the exact sum of those it names, or refuses for a reason of the table', () => {
    const outcomes = { sum: 0, refused: 0 };
    fc.assert(
      fc.property(cases, ({ seed, users, leaves }) => {
        const inputs = inputsFrom(seed, users, 5);
        for (const protocol of protocols(seed, users)) {
          const leavesBefore = (user: number) => protocol.phases[leaves[user] ?? -1]?.name;
          const found = protocol.aggregate({ inputs, leavesBefore });
          outcomes[found.kind]++;
          if (found.kind === 'sum') expect([...found.sum], protocol.name).toEqual(slowSum(inputs, found.included));
          else expect(Object.keys(REFUSALS)).toContain(found.reason);
        }
      }),
      { numRuns: 30 },
    );
    expect(Math.min(outcomes.sum, outcomes.refused)).toBeGreaterThan(10);
  });

  const gone = (count: number, phase: string) => (user: number) => (user < count ? phase : undefined);

  it.each(['shares', 'masked-input', 'unmasking'])(
    'SecAgg opens with exactly t left before %s, and not with t - 1',
    (phase) => {
      const [users, threshold] = [10, 7];
      const inputs = inputsFrom(1, users, 4);
      const found = secAgg(toolsFrom(1)).aggregate({ inputs, leavesBefore: gone(users - threshold, phase) });
      expect(found.kind).toBe('sum');
      const refusal = secAgg(toolsFrom(1)).aggregate({ inputs, leavesBefore: gone(users - threshold + 1, phase) });
      expect(refusal.kind).toBe('refused');
    },
  );

  it('those who leave after masking are in the sum, those who leave before it are not', () => {
    const inputs = inputsFrom(1, 10, 4);
    const before = secAgg(toolsFrom(1)).aggregate({ inputs, leavesBefore: gone(2, 'masked-input') });
    expect(before).toMatchObject({ included: [2, 3, 4, 5, 6, 7, 8, 9] });
    const after = secAgg(toolsFrom(1)).aggregate({ inputs, leavesBefore: gone(2, 'unmasking') });
    expect(after).toMatchObject({ included: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] });
  });

  it.each(['upload', 'recovery'])('LightSecAgg opens with exactly U left before %s, and not with U - 1', (phase) => {
    const inputs = inputsFrom(1, 10, 4);
    const protocol = lightSecAgg(toolsFrom(1), publishedCode);
    expect(protocol.aggregate({ inputs, leavesBefore: gone(3, phase) }).kind).toBe('sum');
    expect(protocol.aggregate({ inputs, leavesBefore: gone(4, phase) }).kind).toBe('refused');
  });
});

describe('SecAgg+ over a sparse graph', () => {
  const USERS = 9;
  const NEIGHBOURHOOD = { degree: 4, threshold: 2 };

  it('gives the exact sum of those it names, or refuses, with drop-outs anywhere; and both happen', () => {
    const outcomes = { sum: 0, refused: 0, mended: 0 };
    // Most stay: one in four leaves, before any phase alike.
    const leaves = fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.nat(3) });
    const leaving = fc.array(leaves, { minLength: USERS, maxLength: USERS });
    fc.assert(
      fc.property(fc.nat(), leaving, (seed, left) => {
        const inputs = inputsFrom(seed, USERS, 5);
        const protocol = secAggPlus(toolsFrom(seed), NEIGHBOURHOOD);
        const leavesBefore = (user: number) => protocol.phases[left[user] ?? -1]?.name;
        const found = protocol.aggregate({ inputs, leavesBefore });
        outcomes[found.kind]++;
        if (found.kind === 'refused') return;
        expect([...found.sum]).toEqual(slowSum(inputs, found.included));
        if (left.includes(2)) outcomes.mended++; // Somebody left with its masks in others' uploads.
      }),
      { numRuns: 60, seed: 7 },
    );
    expect(Math.min(outcomes.sum, outcomes.refused, outcomes.mended)).toBeGreaterThan(3);
  });

  it('costs a user the shares and masks of its neighbours, not of everybody', () => {
    const peers: number[] = [];
    const sent = ({ phase, from, user, bytes }: Message): void => {
      if (phase === 'shares' && from === 'user') peers[user] = bytes / (2 + 64 + 16);
    };
    const inputs = inputsFrom(1, USERS, 5);
    const protocol = secAggPlus(toolsFrom(1), NEIGHBOURHOOD);
    expect(protocol.aggregate({ inputs, leavesBefore: stays }, { ...NOBODY_LISTENS, sent }).kind).toBe('sum');
    expect(peers).toEqual(new Array(USERS).fill(NEIGHBOURHOOD.degree));
  });
});

describe('buffered LightSecAgg', () => {
  it('adds masks of different versions, each times its integer weight', () => {
    const [users, bufferSize, weightScale] = [12, 5, 64];
    const inputs = inputsFrom(4, users, 9);
    const weightOf = (staleness: number): number => (1 + staleness) ** -0.5;
    const stalenessOf = (user: number): number => (3 * user) % 7;
    const reading = SYNCHRONISATION_READINGS.background;
    const choice = { ...BUFFERED, bufferSize, weightScale, weightOf, stalenessOf, reading };
    const found = bufferedLightSecAgg(toolsFrom(4), choice).aggregate({
      inputs,
      leavesBefore: (user) => (user % 4 === 0 ? 'recovery' : undefined),
    });
    const weights = [0, 1, 2, 3, 4].map((user) => integerWeight(weightOf(stalenessOf(user)), weightScale));
    expect(found.kind === 'sum' && [...found.sum]).toEqual(slowSum(inputs, [0, 1, 2, 3, 4], weights));
  });

  it('refuses weights under which the sum could wrap', () => {
    const choice = {
      ...BUFFERED,
      bufferSize: 10,
      weightScale: 64,
      inputBound: 2 ** 24,
      reading: SYNCHRONISATION_READINGS.block,
    };
    const inputs = inputsFrom(4, 12, 9);
    expect(bufferedLightSecAgg(toolsFrom(4), choice).aggregate({ inputs, leavesBefore: stays })).toMatchObject({
      kind: 'refused',
      reason: 'would-wrap',
    });
  });
});

describe('messages', () => {
  function bytesOf(protocol: AggregationProtocol, users: number, dimension: number): { up: number; down: number } {
    const total = { up: 0, down: 0 };
    const sent = ({ from, user, bytes }: Message): void => {
      if (user === 1) total[from === 'user' ? 'up' : 'down'] += bytes;
    };
    const observer: Observer = { ...NOBODY_LISTENS, sent };
    protocol.aggregate({ inputs: inputsFrom(1, users, dimension), leavesBefore: stays }, observer);
    return total;
  }

  it('have the sizes that the layouts say', () => {
    const [n, d] = [10, 100];
    const shareBytes = 2 + 64 + 16;
    const secagg = bytesOf(secAgg(toolsFrom(1)), n, d);
    expect(secagg.up).toBe(66 + (n - 1) * shareBytes + 4 * d + n * 35);
    expect(secagg.down).toBe((n - 1) * 66 + (n - 1) * shareBytes + 2);
    const L = d / 2; // U - T = 7 - 5
    const light = bytesOf(lightSecAgg(toolsFrom(1), publishedCode), n, d);
    expect(light.up).toBe(34 + (n - 1) * (2 + 4 * L + 16) + 4 * d + 4 * L);
    expect(light.down).toBe(n * 34 + (n - 1) * (2 + 4 * L + 16) + n * 14);
    expect(bytesOf(plainAggregation(toolsFrom(1)), n, d)).toEqual({ up: 4 * d, down: 0 });
    expect(plainAggregation(toolsFrom(1)).modulus).toBe(FIELD);
  });
});
