/** One shape for every protocol, BASA's modes included: parties, phases, messages with sizes, who computes what. */
import type { Keystream, MaskTools, Modulus, RandomBytes } from '@basa/masking';
import type { CombinationKernel } from './field/combination-kernel.ts';

export type Party = 'user' | 'server' | 'authority';

/** One step of a protocol, in order: what each user does in it, and what the server does when it ends. */
export interface Phase {
  readonly name: string;
  readonly user: string;
  readonly server: string;
}

/** One message as it crossed: its phase, its ends, its bytes. `user` is the one that sent or received it. */
export interface Message {
  readonly phase: string;
  readonly from: Party;
  readonly to: Party;
  readonly user: number;
  readonly bytes: number;
}

/** Who listens: a clock around each computation, a counter of bytes, or nobody. Computations may nest. */
export interface Observer {
  compute<Result>(party: Party, phase: string, user: number | undefined, work: () => Result): Result;
  sent(message: Message): void;
}

export const NOBODY_LISTENS: Observer = { compute: (_party, _phase, _user, work) => work(), sent: () => undefined };

/** The quantised inputs of one sum, and where each user leaves: before it sends anything in that phase, or never. */
export interface Gathering {
  readonly inputs: readonly Uint32Array[];
  readonly leavesBefore: (user: number) => string | undefined;
}

export type Aggregated =
  | { readonly kind: 'sum'; readonly sum: Uint32Array; readonly included: readonly number[] }
  | { readonly kind: 'refused'; readonly reason: string; readonly detail?: string };

export interface AggregationProtocol {
  readonly name: string;
  /** Whether all users work on one round together, or each comes when it is ready. */
  readonly timing: 'synchronous' | 'asynchronous';
  readonly modulus: Modulus;
  readonly phases: readonly Phase[];
  /** Every party's code in one process, each message as bytes: the exact sum of those included, or a clear no. */
  aggregate(gathering: Gathering, observer?: Observer): Aggregated;
}

/** The outside, as arguments. */
export interface AggregationTools {
  readonly masks: MaskTools<Keystream>;
  readonly combinations: CombinationKernel;
  readonly randomBytes: RandomBytes;
}

/** Who is still there when a phase begins. */
export function presentIn(phases: readonly Phase[], { inputs, leavesBefore }: Gathering, phase: string): number[] {
  const position = phases.findIndex(({ name }) => name === phase);
  return Array.from(inputs, (_, user) => user).filter((user) => {
    const leaves = leavesBefore(user);
    return leaves === undefined || phases.findIndex(({ name }) => name === leaves) > position;
  });
}
