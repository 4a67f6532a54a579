/** What every part of a connected client works with. */
import type { Descriptor, Pins, TaskId, UserPorts } from '@basa/protocol';
import type { Authorities } from './authorities.ts';
import type { Emitter } from './client-events.ts';
import type { DeviceState } from './device-state.ts';
import type { Outside } from './outside.ts';
import type { Sealings } from './sealings.ts';
import type { ServerClient } from './server-client.ts';

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
