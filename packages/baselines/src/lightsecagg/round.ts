/** LightSecAgg from beginning to end, in rounds and with a buffer: all parties in one process, messages as bytes. */
import { FIELD, FIELD_PRIME, integerWeight, signedCapacity, subtractInPlace } from '@basa/masking';
import type { Aggregated, AggregationProtocol, AggregationTools, Gathering, Observer, Phase } from '../aggregation.ts';
import { NOBODY_LISTENS, presentIn } from '../aggregation.ts';
import { primeField } from '../field/field.ts';
import { refused } from '../refusals.ts';
import { MaskCode } from './mask-code.ts';
import {
  decodeChannelKeys,
  decodeEntries,
  decodeSealedShares,
  decodeVector,
  encodeChannelKeys,
  encodeEntries,
  encodeSealedShares,
  encodeVector,
} from './messages.ts';
import type { CodeParameters, LightSecAggParameters } from './parameters.ts';
import { pieceLength } from './parameters.ts';
import { LightSecAggServer } from './server.ts';
import type { SynchronisationReading } from './synchronisation.ts';
import { LightSecAggUser } from './user.ts';

const LIGHTSECAGG_PHASES: readonly Phase[] = [
  { name: 'keys', user: 'agrees with each other user, once for a training run', server: 'tells everybody the keys' },
  { name: 'offline', user: 'draws and encodes a mask; seals and opens shares', server: 'routes the sealed shares' },
  { name: 'upload', user: 'adds its mask', server: 'adds y, times its weight' },
  { name: 'recovery', user: 'adds up the shares it holds', server: 'interpolates the sum of masks and subtracts it' },
];

/** In rounds: the sum of all survivors, who must be U at least. */
export function lightSecAgg(
  tools: AggregationTools,
  codeFor: (users: number) => CodeParameters,
  name = 'LightSecAgg',
): AggregationProtocol {
  return {
    name,
    timing: 'synchronous',
    modulus: FIELD,
    phases: LIGHTSECAGG_PHASES,
    aggregate(gathering, observer = NOBODY_LISTENS) {
      const code = codeFor(gathering.inputs.length);
      return run(tools, gathering, observer, { code, fewest: code.survivors, most: code.users, staleness: () => 0 });
    },
  };
}

export interface BufferedChoice {
  readonly codeFor: (users: number) => CodeParameters;
  /** K. */
  readonly bufferSize: number;
  /** c_g: the integer that a real weight of 1 becomes; 1 means that staleness does not count. */
  readonly weightScale: number;
  /** S(tau) in (0, 1]. */
  readonly weightOf: (staleness: number) => number;
  /** The largest |X| of an input, for the proof that weighted sums do not wrap. */
  readonly inputBound: number;
  readonly reading: SynchronisationReading;
  /** How many versions passed while a user trained. */
  readonly stalenessOf?: (user: number) => number;
}

export interface BufferedProtocol extends AggregationProtocol {
  /** For whoever simulates time: what the others do while the server waits for U answers. */
  readonly reading: SynchronisationReading;
}

/** With a buffer: sum_i S_i x_i of the first K, with masks of different versions. */
export function bufferedLightSecAgg(tools: AggregationTools, choice: BufferedChoice): BufferedProtocol {
  const { bufferSize, weightScale, weightOf, inputBound, stalenessOf = () => 0, reading } = choice;
  return {
    name: 'LightSecAgg, buffered',
    timing: 'asynchronous',
    modulus: FIELD,
    phases: LIGHTSECAGG_PHASES,
    reading,
    aggregate(gathering, observer = NOBODY_LISTENS) {
      // K c_g ceil(c_l Dmax) <= (q - 1) / 2
      if (bufferSize * weightScale * inputBound > signedCapacity(FIELD)) {
        return refused('would-wrap', `${bufferSize} * ${weightScale} * ${inputBound}`);
      }
      const code = choice.codeFor(gathering.inputs.length);
      return run(tools, gathering, observer, {
        code,
        fewest: bufferSize,
        most: bufferSize,
        staleness: stalenessOf,
        weightOf: (staleness) => integerWeight(weightOf(staleness), weightScale),
      });
    },
  };
}

interface Run {
  readonly code: CodeParameters;
  readonly fewest: number;
  readonly most: number;
  readonly staleness: (user: number) => number;
  readonly weightOf?: (staleness: number) => number;
}

/** The server's version while the buffer fills; stamps count down from it by staleness. */
const VERSION = 1000;

function run(tools: AggregationTools, gathering: Gathering, observer: Observer, choice: Run): Aggregated {
  const { masks, combinations, randomBytes } = tools;
  const dimension = gathering.inputs[0]?.length ?? 0;
  const parameters: LightSecAggParameters = {
    ...choice.code,
    session: randomBytes(32),
    dimension,
    fewest: choice.fewest,
  };
  const code = new MaskCode(choice.code, primeField(FIELD_PRIME));
  const length = pieceLength(parameters);
  const server = new LightSecAggServer(parameters, code);
  const users = new Map<number, LightSecAggUser>();
  const there = (phase: string): number[] => presentIn(LIGHTSECAGG_PHASES, gathering, phase);
  const stampOf = (user: number): number => VERSION - choice.staleness(user);
  const cross = (phase: string, from: 'user' | 'server', user: number, bytes: Uint8Array): Uint8Array => {
    observer.sent({ phase, from, to: from === 'user' ? 'server' : 'user', user, bytes: bytes.length });
    return bytes;
  };

  const roster = there('keys').map((id) => {
    const keys = observer.compute('user', 'keys', id, () => {
      users.set(id, new LightSecAggUser(id, parameters, code, tools));
      return encodeChannelKeys([(users.get(id) as LightSecAggUser).advertise()]);
    });
    return decodeChannelKeys(cross('keys', 'user', id, keys));
  });
  const everybody = encodeChannelKeys(roster.flat());
  for (const [id, user] of users) {
    const told = decodeChannelKeys(cross('keys', 'server', id, everybody));
    const problem = observer.compute('user', 'keys', id, () => user.connect(told));
    if (problem !== undefined) return problem;
  }

  for (const id of there('offline')) {
    const made = observer.compute('user', 'offline', id, () =>
      encodeSealedShares((users.get(id) as LightSecAggUser).encodeMask(stampOf(id))),
    );
    for (const { peer, sealed } of decodeSealedShares(cross('offline', 'user', id, made), length)) {
      const share = decodeSealedShares(
        cross('offline', 'server', peer, encodeSealedShares([{ peer: id, sealed }])),
        length,
      );
      const problem = observer.compute('user', 'offline', peer, () =>
        (users.get(peer) as LightSecAggUser).receiveShare(share[0] as (typeof share)[number], stampOf(id)),
      );
      if (problem !== undefined) return problem;
    }
  }

  let sum = new Uint32Array(dimension);
  for (const id of there('upload').slice(0, choice.most)) {
    const y = observer.compute('user', 'upload', id, () => {
      const vector = (gathering.inputs[id] as Uint32Array).slice();
      const problem = (users.get(id) as LightSecAggUser).maskInPlace(vector, stampOf(id));
      return problem ?? encodeVector(vector);
    });
    if (!(y instanceof Uint8Array)) return y;
    cross('upload', 'user', id, y);
    observer.compute('server', 'upload', undefined, () => {
      const weight = choice.weightOf?.(VERSION - stampOf(id)) ?? 1;
      const vector = decodeVector(y, dimension);
      if (vector === undefined || server.receiveMasked({ user: id, stamp: stampOf(id), weight }) !== undefined) return;
      const next = new Uint32Array(dimension);
      combinations.combine([Uint32Array.of(1, weight)], [sum, vector], [next]);
      sum = next;
    });
  }
  const closed = server.close();
  if (closed.kind === 'refused') return closed;

  for (const id of there('recovery')) {
    if (server.isOpenable) break;
    const asked = decodeEntries(cross('recovery', 'server', id, encodeEntries(closed.entries)));
    const answer = observer.compute('user', 'recovery', id, () => (users.get(id) as LightSecAggUser).answer(asked));
    if (answer.kind === 'refused') continue;
    const share = decodeVector(cross('recovery', 'user', id, encodeVector(answer.share)), length);
    if (share !== undefined) server.receiveAnswer(id, share);
  }
  return observer.compute('server', 'recovery', undefined, () => {
    const opened = server.open(combinations);
    if (opened.kind === 'refused') return opened;
    subtractInPlace(sum, opened.mask, FIELD, masks.kernel);
    return { kind: 'sum', sum, included: closed.entries.map(({ user }) => user) };
  });
}
