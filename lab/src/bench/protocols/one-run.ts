/** One sum that is run in full and checked, with a meter attached. */
import type { AggregationProtocol } from '@basa/baselines';
import { type Book, Meter } from '@basa/simulator/virtual-time';

export interface Run {
  readonly protocol: AggregationProtocol;
  readonly meter: Meter;
  /** The books of the users in the sum. */
  readonly stayed: readonly Book[];
  /** The phase in which the vectors travel. */
  readonly upload: string;
}

export interface Setting {
  readonly users: number;
  /** The share of users that leave before they upload: the last moment, and the most expensive one for the server. */
  readonly dropouts: number;
  readonly dimension: number;
}

/** Undefined if the protocol refuses to open. */
export function runOnce(setting: Setting, make: (meter: Meter) => AggregationProtocol): Run | undefined {
  const { users, dropouts, dimension } = setting;
  const meter = new Meter();
  const protocol = make(meter);
  const leaving = Math.floor(users * dropouts);
  const upload = protocol.phases.find(({ name }) => name === 'upload' || name === 'masked-input')?.name;
  if (upload === undefined) throw new Error(`${protocol.name} has no phase of uploads`);
  const inputs = Array.from({ length: users }, (_, user) =>
    Uint32Array.from({ length: dimension }, (__, k) => 1 + ((user * 31 + k) % 1000)),
  );
  const leavesBefore = (user: number): string | undefined => (user >= 1 && user <= leaving ? upload : undefined);
  const found = protocol.aggregate({ inputs, leavesBefore }, meter);
  if (found.kind === 'refused') return undefined;
  const isRight = found.sum.every(
    (word, k) => word === found.included.reduce((sum, user) => sum + (inputs[user]?.[k] ?? 0), 0),
  );
  if (!isRight || found.sum.length !== dimension) throw new Error(`${protocol.name} gave a wrong sum`);
  return { protocol, meter, stayed: found.included.map((user) => meter.users.get(user) as Book), upload };
}
