/** What every part of a connected client works with. */
import type { Descriptor, Pins, TaskId, UserPorts } from '@basa/protocol';
import type { DeviceState } from '../device/device-state.ts';
import type { Outside } from '../outside.ts';
import type { Authorities } from '../services/authorities.ts';
import type { ServerClient } from '../services/server-client.ts';
import type { Emitter } from './client-events.ts';
import type { Sealings } from './sealings.ts';

export interface DeviceContext {
  readonly outside: Outside;
  readonly server: ServerClient;
  readonly authorities: Authorities;
  readonly state: DeviceState;
  readonly sealings: Sealings;
  readonly events: Emitter;
  readonly pins: Pins;
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
