/** One user and the server of LightSecAgg at the real dimension; the messages of the other users have the real length. */
import { type AggregationTools, type CodeParameters, pieceLength } from '@basa/baselines';
import { FIELD, packVector, unpackVector } from '@basa/masking';
import { lightSecAggWork } from '@basa/simulator/virtual-time';
import { type Cost, inAll, NOTHING } from './cost.ts';
import { best } from './prices.ts';

interface Summed {
  /** The number of updates in the sum: the survivors of a round, or K of a buffer. */
  readonly summed: number;
  readonly present: number;
  /** True if each update is weighted by its staleness. */
  readonly isWeighted: boolean;
}

/** Undefined if fewer than U users are left. */
export function lightSecAggCost(
  code: CodeParameters,
  dimension: number,
  { summed, present, isWeighted }: Summed,
  tools: AggregationTools,
  addMs: number,
): Cost | undefined {
  if (present < code.survivors) return undefined;
  const { users } = code;
  const length = pieceLength({ ...code, dimension });
  const work = lightSecAggWork(code, dimension, summed, tools);
  const keysMs = best(work.connect, 1);
  const encodeMs = best(work.encode, 2);
  const offlineMs = encodeMs + (users - 1) * best(work.receive);
  const uploadMs = best(work.mask, 1);
  const answerMs = best(work.answer);
  const decodeMs = best(work.decode, 2);
  const enterMs = isWeighted ? weighTime(dimension, tools) : addMs;
  const sealed = (users - 1) * (2 + 4 * length + 16);
  return inAll([
    { ...NOTHING, phase: 'keys', userMs: keysMs, bytesUp: 34, bytesDown: users * 34 },
    { ...NOTHING, phase: 'offline', userMs: offlineMs, bytesUp: sealed, bytesDown: sealed },
    { ...NOTHING, phase: 'upload', userMs: uploadMs, serverMs: summed * enterMs, bytesUp: 4 * dimension },
    {
      ...NOTHING,
      phase: 'recovery',
      userMs: answerMs,
      serverMs: decodeMs + addMs,
      bytesUp: 4 * length,
      bytesDown: summed * 14,
    },
  ]);
}

/** Reads one upload and adds it times its weight. */
function weighTime(dimension: number, { combinations }: AggregationTools): number {
  const packed = packVector(new Uint32Array(dimension), FIELD);
  const sum = new Uint32Array(dimension);
  return best(() => {
    const unpacked = unpackVector(packed, dimension, FIELD);
    if (unpacked.kind === 'malformed') throw new Error(unpacked.problem);
    combinations.combine([Uint32Array.of(1, 2)], [sum, unpacked.vector], [new Uint32Array(dimension)]);
  });
}
