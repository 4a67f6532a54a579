/** One user and the server of LightSecAgg at the true dimension; the messages of the other users have the true length. */
import {
  type AggregationTools,
  type CodeParameters,
  LightSecAggUser,
  MaskCode,
  pieceLength,
  primeField,
} from '@basa/baselines';
import { FIELD_PRIME } from '@basa/masking';
import type { LightSecAggPrices } from './costs.ts';
import { type Sampled, type Sampling, sample } from './sampling.ts';

/** Each can be repeated. A user connects before it encodes, and encodes before it masks or another one receives. */
type LightSecAggWork = Readonly<Record<'connect' | 'encode' | 'receive' | 'mask' | 'answer' | 'decode', () => void>>;

/** `summed` updates are in the sum: the survivors of a round, or K of a buffer. */
export function lightSecAggWork(
  code: CodeParameters,
  dimension: number,
  summed: number,
  tools: AggregationTools,
): LightSecAggWork {
  const { users, survivors } = code;
  const parameters = { ...code, session: tools.randomBytes(32), dimension, fewest: summed };
  const length = pieceLength(parameters);
  const maskCode = new MaskCode(code, primeField(FIELD_PRIME));
  const [first, second] = [0, 1].map((id) => new LightSecAggUser(id, parameters, maskCode, tools));
  if (first === undefined || second === undefined) throw new Error('two users are needed');
  const others = Array.from({ length: users - 2 }, (_, n) => ({
    user: n + 2,
    channelKey: tools.masks.suite.x25519(tools.randomBytes(32)).publicKey,
  }));
  const roster = [first.advertise(), second.advertise(), ...others];
  second.connect(roster);
  let stamp = 0;
  let share: ReturnType<LightSecAggUser['encodeMask']>[number] | undefined;
  const vector = () => Uint32Array.from({ length }, (_, k) => (k * 2_654_435_761) % FIELD_PRIME);
  const answers = Array.from({ length: survivors }, vector);
  const held = Array.from({ length: summed }, (_, n) => answers[n % survivors] as Uint32Array);
  const ids = Array.from({ length: survivors }, (_, n) => users - 1 - n);
  const { combinations } = tools;
  return {
    connect: () => first.connect(roster),
    encode() {
      share = first.encodeMask(++stamp).find(({ peer }) => peer === 1);
    },
    receive() {
      if (share === undefined) throw new Error('no share');
      second.receiveShare({ ...share, peer: 0 }, stamp);
    },
    mask: () => void first.maskInPlace(new Uint32Array(dimension), stamp),
    answer: () => combinations.combine([new Uint32Array(summed).fill(1)], held, [new Uint32Array(length)]),
    decode: () => void maskCode.decode(ids, answers, combinations),
  };
}

export function lightSecAggPrices(
  code: CodeParameters,
  dimension: number,
  summed: number,
  tools: AggregationTools,
  sampling: Sampling,
): LightSecAggPrices {
  const work = lightSecAggWork(code, dimension, summed, tools);
  const timed = (name: keyof LightSecAggPrices): Sampled =>
    sample(`LightSecAgg ${name}, N = ${code.users}, d = ${dimension}`, work[name], sampling);
  work.connect();
  return { encode: timed('encode'), receive: timed('receive'), answer: timed('answer'), decode: timed('decode') };
}
