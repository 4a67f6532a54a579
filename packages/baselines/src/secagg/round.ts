/** SecAgg and SecAgg+ behind the interface of all protocols: all parties in one process, every message as bytes. */
import { addInPlace, FIELD, type Modulus, packVector, unpackVector } from '@basa/masking';
import {
  type Aggregated,
  type AggregationProtocol,
  type AggregationTools,
  type Crossing,
  carryOut,
  crossing,
  type Gathering,
  NOBODY_LISTENS,
  type Observer,
  presentIn,
} from '../aggregation.ts';
import { type Refused, refused } from '../refusals.ts';
import {
  decodeAnswer,
  decodeKeys,
  decodeShares,
  decodeUsers,
  encodeAnswer,
  encodeKeys,
  encodeShares,
  encodeUsers,
} from './messages.ts';
import {
  type Neighbourhood,
  type Risk,
  SECAGG_PHASES,
  type SecAggParameters,
  secAggParameters,
  secAggPlusParameters,
} from './parameters.ts';
import { SecAggServer } from './server.ts';
import { SecAggUser } from './user.ts';

/** A user that refuses a message counts as a user that left. The others continue without it. */
class SecAggParties {
  readonly #tools: AggregationTools;
  readonly #parameters: SecAggParameters;
  readonly #gathering: Gathering;
  readonly #observer: Observer;
  readonly #wire: Crossing;
  readonly #server: SecAggServer;
  readonly #users = new Map<number, SecAggUser>();
  readonly #left = new Set<number>();
  readonly #sum: Uint32Array;

  constructor(tools: AggregationTools, parameters: SecAggParameters, gathering: Gathering, observer: Observer) {
    this.#tools = tools;
    this.#parameters = parameters;
    this.#gathering = gathering;
    this.#observer = observer;
    this.#wire = crossing(observer);
    this.#server = new SecAggServer(parameters, this.#ports);
    this.#sum = new Uint32Array(gathering.inputs[0]?.length ?? 0);
  }

  run(): Aggregated {
    return this.#advertise() ?? this.#share() ?? this.#collect() ?? this.#ask() ?? this.#open();
  }

  #advertise(): undefined {
    for (const id of this.#there('keys')) {
      const keys = this.#observer.compute('user', 'keys', id, () => {
        const user = new SecAggUser(id, this.#parameters, this.#ports);
        this.#users.set(id, user);
        return encodeKeys([user.advertise()]);
      });
      for (const entry of decodeKeys(this.#wire.up('keys', id, keys))) this.#server.receiveKeys(entry);
    }
  }

  #share(): Refused | undefined {
    const rosters = this.#observer.compute('server', 'keys', undefined, () => this.#server.closeKeys());
    if (rosters.kind === 'refused') return rosters;
    for (const id of this.#there('shares')) {
      const roster = this.#wire.down('shares', id, encodeKeys(rosters.rosterOf(id)));
      const shared = this.#observer.compute('user', 'shares', id, () => this.#user(id).share(decodeKeys(roster)));
      if (shared.kind === 'refused') this.#left.add(id);
      else this.#server.receiveShares(id, decodeShares(this.#wire.up('shares', id, encodeShares(shared.shares))));
    }
    return undefined;
  }

  #collect(): Refused | undefined {
    const inboxes = this.#observer.compute('server', 'shares', undefined, () => this.#server.closeShares());
    if (inboxes.kind === 'refused') return inboxes;
    for (const id of this.#there('masked-input')) {
      const inbox = this.#wire.down('masked-input', id, encodeShares(inboxes.inboxOf(id)));
      const masked = this.#observer.compute('user', 'masked-input', id, () => this.#mask(id, inbox));
      if (masked === undefined) {
        this.#left.add(id);
        continue;
      }
      this.#wire.up('masked-input', id, masked);
      const problem = this.#observer.compute('server', 'masked-input', undefined, () => this.#add(id, masked));
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  #mask(id: number, inbox: Uint8Array): Uint8Array | undefined {
    const made = this.#user(id).mask(decodeShares(inbox));
    if (made.kind === 'refused') return undefined;
    const y = (this.#gathering.inputs[id] as Uint32Array).slice();
    carryOut(y, made.plan, this.#tools.masks);
    return packVector(y, this.#parameters.modulus, this.#tools.masks.kernel);
  }

  #add(id: number, masked: Uint8Array): Refused | undefined {
    const { modulus } = this.#parameters;
    const unpacked = unpackVector(masked, this.#sum.length, modulus, this.#tools.masks.kernel);
    if (unpacked.kind === 'malformed') return refused('wrong-length', unpacked.problem);
    const problem = this.#server.receiveMasked(id);
    if (problem === undefined) addInPlace(this.#sum, unpacked.vector, modulus, this.#tools.masks.kernel);
    return problem;
  }

  #ask(): Refused | undefined {
    const asked = this.#observer.compute('server', 'masked-input', undefined, () => this.#server.closeInputs());
    if (asked.kind === 'refused') return asked;
    for (const id of this.#there('unmasking')) {
      const survivors = this.#wire.down('unmasking', id, encodeUsers(asked.survivorsFor(id)));
      const answer = this.#observer.compute('user', 'unmasking', id, () =>
        this.#user(id).answer(decodeUsers(survivors)),
      );
      if (answer.kind === 'refused') continue;
      const revealed = this.#wire.up('unmasking', id, encodeAnswer(answer.revealed));
      this.#server.receiveAnswer(id, decodeAnswer(revealed));
    }
    return undefined;
  }

  #open(): Aggregated {
    return this.#observer.compute('server', 'unmasking', undefined, () => {
      const opened = this.#server.open();
      if (opened.kind === 'refused') return opened;
      carryOut(this.#sum, opened.plan, this.#tools.masks);
      return { kind: 'sum', sum: this.#sum, included: this.#server.survivors };
    });
  }

  get #ports() {
    return { suite: this.#tools.masks.suite, randomBytes: this.#tools.randomBytes };
  }

  #there(phase: string): number[] {
    return presentIn(SECAGG_PHASES, this.#gathering, phase).filter((user) => !this.#left.has(user));
  }

  #user(id: number): SecAggUser {
    return this.#users.get(id) as SecAggUser;
  }
}

export interface SecAggChoice {
  readonly modulus?: Modulus;
  /** Instead of floor(2n/3) + 1. */
  readonly threshold?: number;
}

export function secAgg(
  tools: AggregationTools,
  { modulus = FIELD, threshold }: SecAggChoice = {},
): AggregationProtocol {
  return protocol('SecAgg', tools, modulus, (users) => {
    const parameters = secAggParameters(users, { session: tools.randomBytes(32), modulus });
    return threshold === undefined ? parameters : { ...parameters, threshold };
  });
}

/** Uses the neighbourhood computed for a risk, or a given one. */
export function secAggPlus(
  tools: AggregationTools,
  { modulus = FIELD, ...choice }: (Risk | Neighbourhood) & { readonly modulus?: Modulus },
): AggregationProtocol {
  return protocol('SecAgg+', tools, modulus, (users) => {
    const base = { session: tools.randomBytes(32), modulus };
    if (!('degree' in choice)) return secAggPlusParameters(users, choice, base);
    return { ...base, graph: { kind: 'harary', degree: choice.degree }, threshold: choice.threshold };
  });
}

function protocol(
  name: string,
  tools: AggregationTools,
  modulus: Modulus,
  parametersFor: (users: number) => SecAggParameters,
): AggregationProtocol {
  return {
    name,
    timing: 'synchronous',
    modulus,
    phases: SECAGG_PHASES,
    aggregate: (gathering, observer = NOBODY_LISTENS) =>
      new SecAggParties(tools, parametersFor(gathering.inputs.length), gathering, observer).run(),
  };
}
