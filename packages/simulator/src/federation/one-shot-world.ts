/** The interfaces through which the parties of a federation see each other. */

import type { Ctx, Refused } from '@basa/protocol';
import type { ServerRole } from '@basa/protocol/one-shot';
import type { Batch, ShownUpload } from '@basa/protocol/wire';
import type { ShotAuthority } from './one-shot-authority.ts';
import type { StoredBatch, StoredShot } from './one-shot-store.ts';
import type { ServerModels } from './server-models.ts';
import type { World } from './world.ts';

export interface Accepted {
  readonly kind: 'accepted';
}

/** The server as devices reach it. */
export interface ShotPeer {
  newestModel(): Uint8Array;
  take(upload: Uint8Array, body: Uint8Array): Accepted | Refused;
}

export interface OneShotWorld extends World {
  /** The server's models, and its signatures. */
  readonly server: ServerModels;
  readonly shots: ShotPeer;
  readonly keepers: readonly ShotAuthority[];
}

/** The store of the server, as a batch needs it on its way to a sum. */
export interface ClosingStore {
  readonly world: OneShotWorld;
  readonly view: ServerRole.IntakeView;
  readonly batches: ReadonlyMap<string, StoredBatch>;
  batch(ctx: Ctx): StoredBatch;
  keepBatch(batch: StoredBatch): StoredBatch;
  keepBatches(batches: readonly StoredBatch[]): readonly StoredBatch[];
  shot(name: Uint8Array): StoredShot;
  keep(shot: StoredShot): void;
  shown(shot: StoredShot): ShownUpload;
  vector(shot: StoredShot): Uint32Array;
}

/** Returns the uploads of a batch from the store. */
export function shotsOf(store: Pick<ClosingStore, 'shot'>, { uploads }: Batch): readonly StoredShot[] {
  return uploads.map((name) => store.shot(name));
}

/** Returns the authorities that are present. */
export function present({ world }: Pick<ClosingStore, 'world'>): readonly ShotAuthority[] {
  return world.keepers.filter(({ base }) => !world.isAway(base.index));
}
