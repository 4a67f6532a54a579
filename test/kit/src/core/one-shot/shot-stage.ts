/** The interfaces through which the parties of a one-shot task in memory see each other and the outside. */
import type { RandomBytes } from '@basa/masking';
import type {
  AuthorityStanding,
  Ctx,
  Millis,
  Refused,
  ShotUpload,
  ShownUpload,
  TaskId,
  TaskPolicy,
} from '@basa/protocol';
import type { Environment } from '@basa/simulator';

/** An upload as the server keeps it. */
export interface Shot {
  readonly name: Ctx;
  readonly upload: ShotUpload;
  readonly body: Uint8Array;
}

/** The server as devices reach it, and its records of them. */
export interface ShotIntake {
  readonly shots: Shot[];
  take(sent: ShotUpload, body: Uint8Array): { readonly kind: 'accepted' } | Refused;
  shown(shot: Shot): ShownUpload;
}

/** The parts of the world that an authority needs. */
export interface ShotStage {
  readonly environment: Environment;
  readonly randomBytes: RandomBytes;
  readonly policy: TaskPolicy;
  readonly task: TaskId;
  readonly now: Millis;
}

/** The parts that a device needs. */
export interface DeviceStage extends ShotStage {
  readonly server: Pick<ShotIntake, 'take'>;
  standings(): readonly AuthorityStanding[];
}

export interface WholeStage extends DeviceStage {
  readonly server: ShotIntake;
  /** Indices of the authorities that are present. */
  readonly indices: readonly number[];
}
