/** The data of the baselines' servers before they unmask is uniform, for any inputs. */
import {
  type AggregationProtocol,
  bufferedLightSecAgg,
  lightSecAgg,
  NOBODY_LISTENS,
  type Observer,
  publishedCode,
  SYNCHRONISATION_READINGS,
  secAgg,
  secAggPlus,
} from '@basa/baselines';
import { addInPlace, FIELD, FIELD_PRIME, unpackVector } from '@basa/masking';
import { uniformityOf } from '@basa/simulator';
import { seededTools } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';

const DIMENSION = 1 << 16;
const USERS = 5;
const LEAVER = 3;
/** Runs repeat with their seeds: a p-value is the same each time. */
const QUIET = 1e-5;
const ALARM = 1e-12;

const tools = seededTools(9);
const inputs = Array.from({ length: USERS }, (_, user) => new Uint32Array(DIMENSION).fill(1 + user));

const PROTOCOLS: readonly AggregationProtocol[] = [
  secAgg(tools),
  // A ring: a user that leaves takes half of the masks of two others along.
  secAggPlus(tools, { degree: 2, threshold: 1 }),
  lightSecAgg(tools, publishedCode),
  bufferedLightSecAgg(tools, {
    codeFor: publishedCode,
    bufferSize: USERS - 1,
    weightScale: 64,
    weightOf: (staleness) => 1 / (1 + staleness),
    inputBound: USERS,
    stalenessOf: (user) => user,
    reading: SYNCHRONISATION_READINGS.background,
  }),
];

/** The uploads of a whole run: what users computed in the phase in which vectors travel. */
function uploadsOf(protocol: AggregationProtocol): Uint32Array[] {
  const upload = protocol.phases[2]?.name as string;
  const uploads: Uint32Array[] = [];
  const observer: Observer = {
    ...NOBODY_LISTENS,
    compute(party, phase, _user, work) {
      const made = work();
      if (party === 'user' && phase === upload && made instanceof Uint8Array) {
        const unpacked = unpackVector(made, DIMENSION, FIELD);
        if (unpacked.kind === 'vector') uploads.push(unpacked.vector);
      }
      return made;
    },
  };
  const found = protocol.aggregate(
    { inputs, leavesBefore: (user) => (user === LEAVER ? upload : undefined) },
    observer,
  );
  expect(found).toMatchObject({ kind: 'sum', included: [0, 1, 2, 4] });
  return uploads;
}

function weighted(vector: Uint32Array, weight: number): Uint32Array {
  return vector.map((word) => Number((BigInt(word) * BigInt(weight)) % BigInt(FIELD_PRIME)));
}

const worst = (vectors: readonly Uint32Array[]): number => uniformityOf(vectors, FIELD)[0]?.pValue ?? Number.NaN;

describe('the view of the server before unmasking', () => {
  it.each(PROTOCOLS.map((protocol) => [protocol.name, protocol] as const))(
    'is uniform in %s with a drop-out: each upload, every two together, and the sum',
    (_, protocol) => {
      const uploads = uploadsOf(protocol);
      expect(uploads.length).toBe(USERS - 1);
      expect(worst(uploads)).toBeGreaterThan(QUIET);
      const sum = new Uint32Array(DIMENSION);
      for (const y of uploads) addInPlace(sum, y, FIELD, tools.masks.kernel);
      expect(worst([sum])).toBeGreaterThan(QUIET);
    },
  );

  it('is uniform in buffered LightSecAgg when each upload counts by its staleness', () => {
    const uploads = uploadsOf(PROTOCOLS[3] as AggregationProtocol);
    expect(worst(uploads.map((y, n) => weighted(y, 64 - 13 * n)))).toBeGreaterThan(QUIET);
  });

  it('is not uniform without masks, so the tests would notice a leak', () => {
    expect(worst(inputs)).toBeLessThan(ALARM);
  });
});
