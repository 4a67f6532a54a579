/** The options of a server, and their defaults. */
import { join } from 'node:path';
import type { BasaEvent } from '@basa/protocol';
import type { Address, RateLimit, ServiceOptions } from '@basa/service';
import type { BlobPlace, BodyPlace } from '../blobs/place.ts';
import type { PageOptions } from '../routes/pages.ts';
import type { SharedDatabase } from '../store/open-store.ts';
import type { Keep } from '../tasks/retention.ts';

export interface AuthorityAddress {
  readonly url: string;
  readonly publicKey: Uint8Array;
  readonly timeoutMs?: number;
}

export interface ServerOptions extends Omit<ServiceOptions, 'title' | 'audience' | 'clock' | 'metrics'> {
  /** Database, key and blobs; with `database` only the blobs, in a folder that all nodes share. */
  readonly dataFolder: string;
  /** Set if several nodes form one server. */
  readonly database?: SharedDatabase;
  /** The authorities that tasks of this server may name. */
  readonly authorities: readonly AuthorityAddress[];
  readonly listen: Address;
  /** The place of vectors and models; files below the data folder by default. */
  readonly blobs?: BlobPlace;
  readonly clock?: () => number;
  readonly fetch?: typeof fetch;
  readonly tickMs?: number;
  /** The interval at which the server asks the authorities for revoked devices. */
  readonly revocationsMs?: number;
  readonly workers?: number;
  /** A device that left `max` places unused within `withinMs` has to wait for its next place. */
  /** The rate at which all devices of one task together may ask for places; unlimited by default. */
  readonly taskLimit?: RateLimit;
  /** The bytes of models and updates that each task may store; unlimited by default. */
  readonly taskBytes?: number;
  /** The history that is kept; everything by default. */
  readonly keep?: Keep;
  /** The interval at which data that is no longer kept is removed. */
  readonly tidyMs?: number;
  /** Serves tasks in the paper's own mode, which is not safe. */
  readonly unsafePaperMode?: boolean;
  /** Serves web pages and the event stream. The stream shows to every visitor when batches fill. */
  readonly pages?: PageOptions;
  onEvent?(event: BasaEvent): void;
}

/** The time for which a node may be silent before another one takes over its work. */
export const LEASE_MS = 10_000;
export const SERVER_DEFAULTS = {
  clock: (): number => Date.now(),
  fetch: ((...asked) => fetch(...asked)) as typeof fetch,
  tickMs: 500,
  revocationsMs: 60_000,
  workers: 1,
  keep: {} as Keep,
  tidyMs: 60_000,
  unsafePaperMode: false,
  onEvent: (_: BasaEvent): void => {},
};

export type Settings = typeof SERVER_DEFAULTS & ServerOptions;

/** The place of vectors and models. */
export function blobPlaceOf({ blobs, dataFolder, database }: ServerOptions): BlobPlace {
  return blobs ?? { kind: database === undefined ? 'files' : 'shared-files', folder: join(dataFolder, 'blobs') };
}

/** The same, with the database that holds small bodies. */
export function bodyPlaceOf(options: ServerOptions): BodyPlace {
  const { database, dataFolder } = options;
  const rows = database === undefined ? { folder: dataFolder } : { url: database.url };
  return { blobs: blobPlaceOf(options), rows };
}
