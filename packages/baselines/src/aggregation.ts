/** One interface for every protocol, BASA's modes included: parties, phases, messages with sizes, and the computations of each party. */
import {
  applyMasksInPlace,
  type Keystream,
  type MaskPlan,
  type MaskTools,
  type Modulus,
  type RandomBytes,
} from '@basa/masking';
import type { CombinationKernel } from './field/combination-kernel.ts';

export type Party = 'user' | 'server' | 'authority';

/** One step of a protocol, in order: the work of each user in it, and the work of the server when it ends. */
export interface Phase {
  readonly name: string;
  readonly user: string;
  readonly server: string;
}

/** One sent message: its phase, direction and bytes. `user` is its sender or receiver. */
export interface Message {
  readonly phase: string;
  readonly from: Party;
  readonly to: Party;
  readonly user: number;
  readonly bytes: number;
}

/** Observes a run: a clock around each computation, a counter of bytes, or nothing. Computations may nest. */
export interface Observer {
  compute<Result>(party: Party, phase: string, user: number | undefined, work: () => Result): Result;
  sent(message: Message): void;
}

export const NOBODY_LISTENS: Observer = { compute: (_party, _phase, _user, work) => work(), sent: () => undefined };

/** The quantised inputs of one sum, and the phase before which each user leaves without sending anything, if it leaves. */
export interface Gathering {
  readonly inputs: readonly Uint32Array[];
  readonly leavesBefore: (user: number) => string | undefined;
}

export type Aggregated =
  | { readonly kind: 'sum'; readonly sum: Uint32Array; readonly included: readonly number[] }
  | { readonly kind: 'refused'; readonly reason: string; readonly detail?: string };

export interface AggregationProtocol {
  readonly name: string;
  /** Synchronous if all users work on one round together, asynchronous if each comes when it is ready. */
  readonly timing: 'synchronous' | 'asynchronous';
  readonly modulus: Modulus;
  readonly phases: readonly Phase[];
  /** Runs every party's code in one process, each message as bytes; returns the exact sum of the included users, or a refusal. */
  aggregate(gathering: Gathering, observer?: Observer): Aggregated;
}

/** The tools from outside the pure packages, passed as arguments. */
export interface AggregationTools {
  readonly masks: MaskTools<Keystream>;
  readonly combinations: CombinationKernel;
  readonly randomBytes: RandomBytes;
}

/** Returns the users that are still present when a phase begins. */
export function presentIn(phases: readonly Phase[], { inputs, leavesBefore }: Gathering, phase: string): number[] {
  const position = phases.findIndex(({ name }) => name === phase);
  return Array.from(inputs, (_, user) => user).filter((user) => {
    const leaves = leavesBefore(user);
    return leaves === undefined || phases.findIndex(({ name }) => name === leaves) > position;
  });
}

export interface Crossing {
  up(phase: string, user: number, bytes: Uint8Array): Uint8Array;
  down(phase: string, user: number, bytes: Uint8Array): Uint8Array;
}

export function crossing(observer: Observer): Crossing {
  return {
    up(phase, user, bytes) {
      observer.sent({ phase, from: 'user', to: 'server', user, bytes: bytes.length });
      return bytes;
    },
    down(phase, user, bytes) {
      observer.sent({ phase, from: 'server', to: 'user', user, bytes: bytes.length });
      return bytes;
    },
  };
}

export function carryOut(vector: Uint32Array, plan: MaskPlan, masks: MaskTools<Keystream>): void {
  applyMasksInPlace(vector, plan, masks);
  for (const { seed } of plan.terms) seed.wipe();
}
