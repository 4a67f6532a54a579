/** The parameters that all users and the server of one SecAgg round agree on. */
import type { Modulus } from '@basa/masking';
import type { GraphChoice } from './graph.ts';
import { chooseNeighbourhood, type Risk } from './neighbourhood.ts';

export interface SecAggParameters {
  /** 32 bytes that no other round has: salt of every mask and of every sealed share. */
  readonly session: Uint8Array;
  readonly modulus: Modulus;
  readonly graph: GraphChoice;
  /** t: the number of holders that open a secret; fewer learn nothing. */
  readonly threshold: number;
}

/** t = floor(2n/3) + 1: against a server that works with up to a third of the users. */
export function defaultThreshold(users: number): number {
  return Math.floor((2 * users) / 3) + 1;
}

/** SecAgg: every user is a neighbour of every other. */
export function secAggParameters(users: number, base: Pick<SecAggParameters, 'session' | 'modulus'>): SecAggParameters {
  return { ...base, graph: { kind: 'complete' }, threshold: defaultThreshold(users) };
}

/** SecAgg+: the smallest neighbourhood within the accepted risk, or SecAgg if there is none. */
export function secAggPlusParameters(
  users: number,
  risk: Risk,
  base: Pick<SecAggParameters, 'session' | 'modulus'>,
): SecAggParameters {
  const chosen = chooseNeighbourhood(users, risk);
  if (chosen === undefined) return secAggParameters(users, base);
  return { ...base, graph: { kind: 'harary', degree: chosen.degree }, threshold: chosen.threshold };
}

/** In SecAgg a user holds a share of itself too; among neighbours it does not (Bell et al. 2020, algorithm 2). */
export function holdsOwnShare({ graph }: SecAggParameters): boolean {
  return graph.kind === 'complete';
}

/** s_uv is added by the user with the smaller number and subtracted by the other. */
export function maskSign(user: number, peer: number): 1 | -1 {
  return user < peer ? 1 : -1;
}

/** The point at which a user's polynomial is evaluated for this holder; never 0, because the value there is the secret. */
export function sharePoint(user: number): number {
  return user + 1;
}
