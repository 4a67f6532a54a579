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

/** `summed` updates are in the sum: the survivors of a round, or K of a buffer. */
export function lightSecAggPrices(
  code: CodeParameters,
  dimension: number,
  summed: number,
  tools: AggregationTools,
  sampling: Sampling,
): LightSecAggPrices {
  const { users, survivors } = code;
  const timed = (name: string, work: () => void): Sampled =>
    sample(`LightSecAgg ${name}, N = ${users}, d = ${dimension}`, work, sampling);
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
  first.connect(roster);
  second.connect(roster);
  let stamp = 0;
  let made: ReturnType<LightSecAggUser['encodeMask']> = [];
  const encode = timed('encode', () => {
    made = first.encodeMask(++stamp);
  });
  const share = made.find(({ peer }) => peer === 1);
  if (share === undefined) throw new Error('no share');
  made = [];
  const receive = timed('receive', () => void second.receiveShare({ ...share, peer: 0 }, stamp));
  const { combinations } = tools;
  const vector = (words: number): Uint32Array =>
    Uint32Array.from({ length: words }, (_, k) => (k * 2_654_435_761) % FIELD_PRIME);
  const answers = Array.from({ length: survivors }, () => vector(length));
  const held = Array.from({ length: summed }, (_, n) => answers[n % survivors] as Uint32Array);
  const ids = Array.from({ length: survivors }, (_, n) => users - 1 - n);
  return {
    encode,
    receive,
    answer: timed('answer', () =>
      combinations.combine([new Uint32Array(summed).fill(1)], held, [new Uint32Array(length)]),
    ),
    decode: timed('decode', () => void maskCode.decode(ids, answers, combinations)),
  };
}
