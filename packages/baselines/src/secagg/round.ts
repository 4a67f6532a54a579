/** SecAgg and SecAgg+ from beginning to end: all parties in one process, every message as bytes. */
import type { Modulus } from '@basa/masking';
import { addInPlace, FIELD, packVector, unpackVector } from '@basa/masking';
import type { AggregationProtocol, AggregationTools, Gathering, Observer, Phase } from '../aggregation.ts';
import { NOBODY_LISTENS, presentIn } from '../aggregation.ts';
import { carryOut } from '../carry-out.ts';
import { refused } from '../refusals.ts';
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
import type { Neighbourhood, Risk } from './neighbourhood.ts';
import type { SecAggParameters } from './parameters.ts';
import { secAggParameters, secAggPlusParameters } from './parameters.ts';
import { SecAggServer } from './server.ts';
import { SecAggUser } from './user.ts';

const SECAGG_PHASES: readonly Phase[] = [
  { name: 'keys', user: 'draws two key pairs', server: 'draws the graph and tells each user its peers' },
  { name: 'shares', user: 'agrees with each peer; shares and seals its secrets', server: 'routes the sealed shares' },
  { name: 'masked-input', user: 'agrees on a mask with each peer; expands and adds them', server: 'adds y' },
  { name: 'unmasking', user: 'opens the shares it holds', server: 'reconstructs, expands and subtracts' },
];

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

/** With the neighbourhood that carries a risk, or with one that was chosen elsewhere. */
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
      runRound(tools, parametersFor(gathering.inputs.length), gathering, observer),
  };
}

/** A user that refuses what it is told is one that leaves: the others go on without it. */
function runRound(
  { masks, randomBytes }: AggregationTools,
  parameters: SecAggParameters,
  gathering: Gathering,
  observer: Observer,
): ReturnType<AggregationProtocol['aggregate']> {
  const { suite } = masks;
  const { modulus } = parameters;
  const ports = { suite, randomBytes };
  const server = new SecAggServer(parameters, ports);
  const users = new Map<number, SecAggUser>();
  const left = new Set<number>();
  const there = (phase: string): number[] =>
    presentIn(SECAGG_PHASES, gathering, phase).filter((user) => !left.has(user));
  const up = (phase: string, user: number, bytes: Uint8Array): Uint8Array => {
    observer.sent({ phase, from: 'user', to: 'server', user, bytes: bytes.length });
    return bytes;
  };
  const down = (phase: string, user: number, bytes: Uint8Array): Uint8Array => {
    observer.sent({ phase, from: 'server', to: 'user', user, bytes: bytes.length });
    return bytes;
  };

  for (const id of there('keys')) {
    const keys = observer.compute('user', 'keys', id, () => {
      const user = new SecAggUser(id, parameters, ports);
      users.set(id, user);
      return encodeKeys([user.advertise()]);
    });
    for (const entry of decodeKeys(up('keys', id, keys))) server.receiveKeys(entry);
  }
  const rosters = observer.compute('server', 'keys', undefined, () => server.closeKeys());
  if (rosters.kind === 'refused') return rosters;

  for (const id of there('shares')) {
    const roster = down('shares', id, encodeKeys(rosters.rosterOf(id)));
    const shared = observer.compute('user', 'shares', id, () =>
      (users.get(id) as SecAggUser).share(decodeKeys(roster)),
    );
    if (shared.kind === 'refused') {
      left.add(id);
      continue;
    }
    server.receiveShares(id, decodeShares(up('shares', id, encodeShares(shared.shares))));
  }
  const inboxes = observer.compute('server', 'shares', undefined, () => server.closeShares());
  if (inboxes.kind === 'refused') return inboxes;

  const sum = new Uint32Array(gathering.inputs[0]?.length ?? 0);
  for (const id of there('masked-input')) {
    const inbox = down('masked-input', id, encodeShares(inboxes.inboxOf(id)));
    const masked = observer.compute('user', 'masked-input', id, () => {
      const made = (users.get(id) as SecAggUser).mask(decodeShares(inbox));
      if (made.kind === 'refused') return made;
      const y = (gathering.inputs[id] as Uint32Array).slice();
      carryOut(y, made.plan, masks);
      return packVector(y, modulus);
    });
    if (!(masked instanceof Uint8Array)) {
      left.add(id);
      continue;
    }
    up('masked-input', id, masked);
    const problem = observer.compute('server', 'masked-input', undefined, () => {
      const unpacked = unpackVector(masked, sum.length, modulus);
      if (unpacked.kind === 'malformed') return refused('wrong-length', unpacked.problem);
      const no = server.receiveMasked(id);
      if (no === undefined) addInPlace(sum, unpacked.vector, modulus, masks.kernel);
      return no;
    });
    if (problem !== undefined) return problem;
  }
  const asked = observer.compute('server', 'masked-input', undefined, () => server.closeInputs());
  if (asked.kind === 'refused') return asked;

  for (const id of there('unmasking')) {
    const survivors = down('unmasking', id, encodeUsers(asked.survivorsFor(id)));
    const answer = observer.compute('user', 'unmasking', id, () =>
      (users.get(id) as SecAggUser).answer(decodeUsers(survivors)),
    );
    if (answer.kind === 'refused') continue;
    server.receiveAnswer(id, decodeAnswer(up('unmasking', id, encodeAnswer(answer.revealed))));
  }
  return observer.compute('server', 'unmasking', undefined, () => {
    const opened = server.open();
    if (opened.kind === 'refused') return opened;
    carryOut(sum, opened.plan, masks);
    return { kind: 'sum', sum, included: server.survivors };
  });
}
