/** The parts that every step of a connected client uses. */
import type { Descriptor, Membership, Pins, TaskId, UserPorts } from '@basa/protocol';
import type { DeviceState } from '../device/device-state.ts';
import type { Outside } from '../outside.ts';
import type { Authorities } from '../services/authorities.ts';
import type { ServerClient } from '../services/server-client.ts';
import type { Emitter } from './client-events.ts';
import type { Sealings } from './sealings.ts';
import type { Standings } from './standings.ts';
import type { Terms } from './terms.ts';

export interface DeviceContext {
  readonly outside: Outside;
  readonly server: ServerClient;
  readonly authorities: Authorities;
  readonly state: DeviceState;
  readonly sealings: Sealings;
  readonly standings: Standings;
  readonly events: Emitter;
  /** In the term that the device is in. */
  readonly pins: Pins;
  /** Set if the authorities of the task may be replaced. */
  readonly terms: Terms | undefined;
  readonly task: TaskId;
  readonly token: string | undefined;
  readonly pieceBytes: number;
}

/** The ports of the user core for a buffer's engine and key. */
export function userPorts(
  { outside, sealings }: DeviceContext,
  descriptor: Pick<Descriptor, 'engine' | 'parts'>,
): UserPorts {
  const { suite, randomBytes, kernel } = outside;
  return { suite, randomBytes, kernel, sealing: sealings.of(descriptor) };
}

/** The slot of the session in a buffer. Undefined if there is no slot, as in the one-shot mode. */
export function membershipOf({ session }: Pick<DeviceState, 'session'>): Membership | undefined {
  return session !== undefined && 'descriptor' in session.member ? session.member : undefined;
}
