/** One user and the server of LightSecAgg at the real dimension; the messages of the other users have the real length. */
import {
  type AggregationTools,
  type CodeParameters,
  LightSecAggUser,
  MaskCode,
  pieceLength,
  primeField,
} from '@basa/baselines';
import { FIELD, FIELD_PRIME, packVector, unpackVector } from '@basa/masking';
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
  const parameters = { ...code, session: tools.randomBytes(32), dimension, fewest: summed };
  const maskCode = new MaskCode(code, primeField(FIELD_PRIME));
  const length = pieceLength(parameters);
  const userMs = userTimes(parameters, maskCode, tools);
  const { answerMs, decodeMs } = recoveryTimes(maskCode, { summed, length }, tools);
  const enterMs = isWeighted ? weighTime(dimension, tools) : addMs;
  const sealed = (users - 1) * (2 + 4 * length + 16);
  return inAll([
    { ...NOTHING, phase: 'keys', userMs: userMs.keys, bytesUp: 34, bytesDown: users * 34 },
    { ...NOTHING, phase: 'offline', userMs: userMs.offline, bytesUp: sealed, bytesDown: sealed },
    { ...NOTHING, phase: 'upload', userMs: userMs.upload, serverMs: summed * enterMs, bytesUp: 4 * dimension },
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

function userTimes(
  parameters: ConstructorParameters<typeof LightSecAggUser>[1],
  maskCode: MaskCode,
  tools: AggregationTools,
): { readonly keys: number; readonly offline: number; readonly upload: number } {
  const { users, dimension } = parameters;
  const [first, second] = [0, 1].map((id) => new LightSecAggUser(id, parameters, maskCode, tools));
  if (first === undefined || second === undefined) throw new Error('two users are needed');
  const others = Array.from({ length: users - 2 }, (_, n) => ({
    user: n + 2,
    channelKey: tools.masks.suite.x25519(tools.randomBytes(32)).publicKey,
  }));
  const roster = [first.advertise(), second.advertise(), ...others];
  const keys = best(() => void first.connect(roster), 1);
  second.connect(roster);
  let stamp = 0;
  let made: ReturnType<LightSecAggUser['encodeMask']> = [];
  const encodeMs = best(() => {
    made = first.encodeMask(++stamp);
  }, 2);
  const share = made.find(({ peer }) => peer === 1);
  if (share === undefined) throw new Error('no share');
  const openMs = best(() => void second.receiveShare({ ...share, peer: 0 }, stamp));
  const upload = best(() => void first.maskInPlace(new Uint32Array(dimension), stamp), 1);
  return { keys, offline: encodeMs + (users - 1) * openMs, upload };
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

function recoveryTimes(
  maskCode: MaskCode,
  { summed, length }: { readonly summed: number; readonly length: number },
  { combinations }: AggregationTools,
): { readonly answerMs: number; readonly decodeMs: number } {
  const { users, survivors } = maskCode.parameters;
  const vector = (): Uint32Array => Uint32Array.from({ length }, (_, k) => (k * 2_654_435_761) % FIELD_PRIME);
  const answers = Array.from({ length: survivors }, vector);
  const held = Array.from({ length: summed }, (_, n) => answers[n % survivors] as Uint32Array);
  const ids = Array.from({ length: survivors }, (_, n) => users - 1 - n);
  return {
    answerMs: best(() => combinations.combine([new Uint32Array(summed).fill(1)], held, [new Uint32Array(length)])),
    decodeMs: best(() => void maskCode.decode(ids, answers, combinations), 2),
  };
}
