/** The parts that every step of a connected client uses. */
import type { TaskId } from '@basa/protocol';
import type { TaskPolicy } from '@basa/protocol/policy';
import type { DeviceState } from '../device/device-state.ts';
import type { Outside } from '../outside.ts';
import type { Authorities } from '../services/authorities.ts';
import type { ServerClient } from '../services/server-client.ts';
import type { Emitter } from './client-events.ts';
import type { ShownModels } from './shown-models.ts';

export interface DeviceContext {
  readonly outside: Outside;
  readonly server: ServerClient;
  readonly authorities: Authorities;
  readonly state: DeviceState;
  readonly models: ShownModels;
  readonly events: Emitter;
  /** The pinned policy of the task. */
  readonly policy: TaskPolicy;
  readonly task: TaskId;
  readonly token: Uint8Array | undefined;
  readonly pieceBytes: number;
}
