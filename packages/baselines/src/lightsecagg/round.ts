/** LightSecAgg behind the interface of all protocols, in rounds and with a buffer: all parties in one process, every message as bytes. */
import { FIELD, FIELD_PRIME, integerWeight, signedCapacity } from '@basa/masking';
import {
  type Aggregated,
  type AggregationProtocol,
  type AggregationTools,
  type Crossing,
  crossing,
  type Gathering,
  NOBODY_LISTENS,
  type Observer,
  presentIn,
} from '../aggregation.ts';
import { primeField } from '../field/field.ts';
import { type Refused, refused } from '../refusals.ts';
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
  type MaskEntry,
  type SealedShare,
} from './messages.ts';
import {
  type CodeParameters,
  LIGHTSECAGG_PHASES,
  type LightSecAggChoice,
  type LightSecAggParameters,
  pieceLength,
  type SynchronisationReading,
} from './parameters.ts';
import { LightSecAggServer, WeightedSum } from './server.ts';
import { LightSecAggUser } from './user.ts';

/** The server's version while the buffer fills; stamps count down from it by staleness. */
const VERSION = 1000;

class LightSecAggParties {
  readonly #tools: AggregationTools;
  readonly #gathering: Gathering;
  readonly #observer: Observer;
  readonly #choice: LightSecAggChoice;
  readonly #wire: Crossing;
  readonly #parameters: LightSecAggParameters;
  readonly #code: MaskCode;
  readonly #server: LightSecAggServer;
  readonly #users = new Map<number, LightSecAggUser>();
  readonly #sum: WeightedSum;

  constructor(tools: AggregationTools, gathering: Gathering, observer: Observer, choice: LightSecAggChoice) {
    const dimension = gathering.inputs[0]?.length ?? 0;
    this.#tools = tools;
    this.#gathering = gathering;
    this.#observer = observer;
    this.#choice = choice;
    this.#wire = crossing(observer);
    this.#parameters = { ...choice.code, session: tools.randomBytes(32), dimension, fewest: choice.fewest };
    this.#code = new MaskCode(choice.code, primeField(FIELD_PRIME));
    this.#server = new LightSecAggServer(this.#parameters, this.#code);
    this.#sum = new WeightedSum(dimension, tools);
  }

  run(): Aggregated {
    return this.#connect() ?? this.#encode() ?? this.#collect() ?? this.#recover();
  }

  #connect(): Refused | undefined {
    const roster = this.#there('keys').map((id) => {
      const keys = this.#observer.compute('user', 'keys', id, () => {
        const user = new LightSecAggUser(id, this.#parameters, this.#code, this.#tools);
        this.#users.set(id, user);
        return encodeChannelKeys([user.advertise()]);
      });
      return decodeChannelKeys(this.#wire.up('keys', id, keys));
    });
    const everybody = encodeChannelKeys(roster.flat());
    for (const [id, user] of this.#users) {
      const told = decodeChannelKeys(this.#wire.down('keys', id, everybody));
      const problem = this.#observer.compute('user', 'keys', id, () => user.connect(told));
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  #encode(): Refused | undefined {
    for (const id of this.#there('offline')) {
      const made = this.#observer.compute('user', 'offline', id, () =>
        encodeSealedShares(this.#user(id).encodeMask(this.#stampOf(id))),
      );
      for (const share of decodeSealedShares(this.#wire.up('offline', id, made), pieceLength(this.#parameters))) {
        const problem = this.#route(id, share);
        if (problem !== undefined) return problem;
      }
    }
    return undefined;
  }

  #route(from: number, { peer, sealed }: SealedShare): Refused | undefined {
    const bytes = this.#wire.down('offline', peer, encodeSealedShares([{ peer: from, sealed }]));
    const [share] = decodeSealedShares(bytes, pieceLength(this.#parameters));
    return this.#observer.compute('user', 'offline', peer, () =>
      this.#user(peer).receiveShare(share as SealedShare, this.#stampOf(from)),
    );
  }

  #collect(): Refused | undefined {
    for (const id of this.#there('upload').slice(0, this.#choice.most)) {
      const y = this.#observer.compute('user', 'upload', id, () => {
        const vector = (this.#gathering.inputs[id] as Uint32Array).slice();
        return this.#user(id).maskInPlace(vector, this.#stampOf(id)) ?? encodeVector(vector);
      });
      if (!(y instanceof Uint8Array)) return y;
      this.#wire.up('upload', id, y);
      this.#observer.compute('server', 'upload', undefined, () => this.#add(id, y));
    }
    return undefined;
  }

  #add(user: number, y: Uint8Array): void {
    const weight = this.#choice.weightOf?.(this.#choice.staleness(user)) ?? 1;
    const vector = decodeVector(y, this.#parameters.dimension);
    const entry: MaskEntry = { user, stamp: this.#stampOf(user), weight };
    if (vector === undefined || this.#server.receiveMasked(entry) !== undefined) return;
    this.#sum.add(vector, weight);
  }

  #recover(): Aggregated {
    const closed = this.#server.close();
    if (closed.kind === 'refused') return closed;
    for (const id of this.#there('recovery')) {
      if (this.#server.isOpenable) break;
      const asked = decodeEntries(this.#wire.down('recovery', id, encodeEntries(closed.entries)));
      const answer = this.#observer.compute('user', 'recovery', id, () => this.#user(id).answer(asked));
      if (answer.kind === 'refused') continue;
      const bytes = this.#wire.up('recovery', id, encodeVector(answer.share));
      const share = decodeVector(bytes, pieceLength(this.#parameters));
      if (share !== undefined) this.#server.receiveAnswer(id, share);
    }
    return this.#observer.compute('server', 'recovery', undefined, () => {
      const opened = this.#server.open(this.#tools.combinations);
      if (opened.kind === 'refused') return opened;
      return { kind: 'sum', sum: this.#sum.without(opened.mask), included: closed.entries.map(({ user }) => user) };
    });
  }

  #there(phase: string): number[] {
    return presentIn(LIGHTSECAGG_PHASES, this.#gathering, phase);
  }

  #stampOf(user: number): number {
    return VERSION - this.#choice.staleness(user);
  }

  #user(id: number): LightSecAggUser {
    return this.#users.get(id) as LightSecAggUser;
  }
}

/** In rounds: the sum of all survivors, of whom there must be at least U. */
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
      const choice = { code, fewest: code.survivors, most: code.users, staleness: () => 0 };
      return new LightSecAggParties(tools, gathering, observer, choice).run();
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
  /** The number of versions that passed while a user trained. */
  readonly stalenessOf?: (user: number) => number;
}

export interface BufferedProtocol extends AggregationProtocol {
  /** For simulations of time: the work of the other users while the server waits for U answers. */
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
      return new LightSecAggParties(tools, gathering, observer, {
        code,
        fewest: bufferSize,
        most: bufferSize,
        staleness: stalenessOf,
        weightOf: (staleness) => integerWeight(weightOf(staleness), weightScale),
      }).run();
    },
  };
}
