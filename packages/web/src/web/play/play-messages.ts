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

/** Prices in seconds of one processor of this machine. */
interface SealingPrices {
  readonly sealSeconds: number;
  readonly openSeconds: number;
}

export interface PaperPrices extends SealingPrices {
  /** The key of a position. */
  readonly issueSeconds: number;
}

/** The paper seals with CP-ABE, one-shot mode with X25519, as new tasks do. */
export interface Prices {
  readonly paper: PaperPrices;
  readonly oneShot: SealingPrices;
}

/** One mode at one moment. */
export interface LaneState {
  readonly versions: number;
  /** The updates so far of the buffer or batch that is filling. */
  readonly filled: number;
  readonly waiting: number;
  readonly dropped: number;
  readonly staleness: readonly number[];
  /** The accuracy of the newest version, on digits that no device has. */
  readonly accuracy: number;
}

export type Lane = 'paper' | 'oneShot';

export type FromPlay =
  | { readonly kind: 'prices'; readonly prices: Prices }
  | { readonly kind: 'state'; readonly time: number; readonly lanes: Readonly<Record<Lane, LaneState>> };
