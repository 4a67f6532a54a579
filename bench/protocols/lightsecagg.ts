/** One user and the server of LightSecAgg at the real dimension; what the other users send is of the real length. */
import type { AggregationTools, CodeParameters } from '@basa/baselines';
import { LightSecAggUser, MaskCode, pieceLength, primeField } from '@basa/baselines';
import { FIELD_PRIME } from '@basa/masking';
import type { Cost } from './composed.ts';
import { best } from './prices.ts';

/** `summed` updates are in the sum: the survivors of a round, or K of a buffer. Undefined where fewer than U are left. */
export function lightSecAggCost(
  code: CodeParameters,
  dimension: number,
  { summed, present }: { readonly summed: number; readonly present: number },
  tools: AggregationTools,
  addMs: number,
): Cost | undefined {
  if (present < code.survivors) return undefined;
  const { users, survivors } = code;
  const parameters = { ...code, session: tools.randomBytes(32), dimension, fewest: summed };
  const length = pieceLength(parameters);
  const maskCode = new MaskCode(code, primeField(FIELD_PRIME));
  const [first, second] = [0, 1].map((id) => new LightSecAggUser(id, parameters, maskCode, tools));
  if (first === undefined || second === undefined) throw new Error('two users are needed');
  const others = Array.from({ length: users - 2 }, (_, n) => ({
    user: n + 2,
    channelKey: tools.masks.suite.x25519PublicKey(tools.randomBytes(32)),
  }));
  const roster = [first.advertise(), second.advertise(), ...others];
  const keysMs = best(() => void first.connect(roster), 1);
  second.connect(roster);
  let stamp = 0;
  let made: ReturnType<LightSecAggUser['encodeMask']> = [];
  const encodeMs = best(() => {
    made = first.encodeMask(++stamp);
  }, 2);
  const share = made.find(({ peer }) => peer === 1);
  if (share === undefined) throw new Error('no share');
  const openMs = best(() => void second.receiveShare({ ...share, peer: 0 }, stamp));
  const maskMs = best(() => void first.maskInPlace(new Uint32Array(dimension), stamp), 1);
  made = [];

  const { combinations } = tools;
  const vector = (words: number): Uint32Array =>
    Uint32Array.from({ length: words }, (_, k) => (k * 2_654_435_761) % FIELD_PRIME);
  const answers = Array.from({ length: survivors }, () => vector(length));
  const held = Array.from({ length: summed }, (_, n) => answers[n % survivors] as Uint32Array);
  const answerMs = best(() => combinations.combine([new Uint32Array(summed).fill(1)], held, [new Uint32Array(length)]));
  const ids = Array.from({ length: survivors }, (_, n) => users - 1 - n);
  const decodeMs = best(() => void maskCode.decode(ids, answers, combinations), 2);
  const sealed = 2 + 4 * length + 16;
  return {
    userMs: keysMs + encodeMs + (users - 1) * openMs + maskMs + answerMs,
    serverMs: summed * addMs + decodeMs + addMs,
    bytesUp: 34 + (users - 1) * sealed + 4 * dimension + 4 * length,
    bytesDown: users * 34 + (users - 1) * sealed + summed * 14,
  };
}
