/** What every part of a connected client works with. */
import type { Pins, TaskId, UserPorts } from '@basa/protocol';
import type { AuthorityClient } from './authority-client.ts';
import type { Emitter } from './client-events.ts';
import type { DeviceState } from './device-state.ts';
import type { Outside } from './outside.ts';
import type { Sealings } from './sealings.ts';
import type { ServerClient } from './server-client.ts';

export interface DeviceContext {
  readonly outside: Outside;
  readonly server: ServerClient;
  readonly authority: AuthorityClient;
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
  { outside, pins, sealings }: DeviceContext,
  descriptor: { readonly engine: number; readonly sealingKey: Uint8Array },
): UserPorts {
  const { suite, randomBytes } = outside;
  return { suite, randomBytes, sealing: sealings.of(descriptor), authorityKey: pins.authorityKey };
}
