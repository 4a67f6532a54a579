/** What the page tells the worker that plays, and what it hears. */

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

/** What one engine takes, in seconds of one processor of this machine. */
export interface EnginePrices {
  readonly sealSeconds: number;
  readonly openSeconds: number;
  /** The key of a slot, for its holder or, where it dropped out, for the server. */
  readonly issueSeconds: number;
  /** What opens the self seed of an upload. */
  readonly releaseSeconds: number;
}

/** The paper seals with CP-ABE, sealed mode with slot keys, as new tasks do. */
export type Prices = Readonly<Record<Lane, EnginePrices>>;

/** One mode at one moment. */
export interface LaneState {
  readonly versions: number;
  /** Updates of the buffer that fills, as far as they are there. */
  readonly filled: number;
  readonly waiting: number;
  readonly dropped: number;
  readonly staleness: readonly number[];
  /** Of the newest version, on digits that no device has. */
  readonly accuracy: number;
}

export type Lane = 'paper' | 'sealed';

export type FromPlay =
  | { readonly kind: 'prices'; readonly prices: Prices }
  | { readonly kind: 'state'; readonly time: number; readonly lanes: Readonly<Record<Lane, LaneState>> };
