/** The messages between the page and the worker that plays. */

export interface PlaySettings {
  readonly bufferSize: number;
  readonly betaSeconds: number;
  readonly concurrency: number;
  readonly dropouts: number;
  readonly leaseSeconds: number;
}

export type ToPlay =
  | { readonly kind: 'start'; readonly settings: PlaySettings }
  | { readonly kind: 'speed'; readonly virtualSecondsPerSecond: number };

/** The prices of one engine, in seconds of one processor of this machine. */
export interface EnginePrices {
  readonly sealSeconds: number;
  readonly openSeconds: number;
  /** The key of a slot, for its holder or, if it dropped out, for the server. */
  readonly issueSeconds: number;
  /** The key that opens the self seed of an upload. */
  readonly releaseSeconds: number;
}

/** The paper seals with CP-ABE, sealed mode with slot keys, as new tasks do. */
export type Prices = Readonly<Record<Lane, EnginePrices>>;

/** One mode at one moment. */
export interface LaneState {
  readonly versions: number;
  /** The updates so far of the buffer that is filling. */
  readonly filled: number;
  readonly waiting: number;
  readonly dropped: number;
  readonly staleness: readonly number[];
  /** The accuracy of the newest version, on digits that no device has. */
  readonly accuracy: number;
}

export type Lane = 'paper' | 'sealed';

export type FromPlay =
  | { readonly kind: 'prices'; readonly prices: Prices }
  | { readonly kind: 'state'; readonly time: number; readonly lanes: Readonly<Record<Lane, LaneState>> };
