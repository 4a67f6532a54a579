/** Who is in a one-shot world and what may happen there, and what a state of it is. */
import type { Disks } from './disks.ts';

export interface ShotWorldOptions {
  readonly bufferSize: number;
  readonly minimum: number;
  /** Honest ones, with one update each. */
  readonly devices: number;
  /** Devices on the server's side, each with an upload. */
  readonly eves?: number;
  readonly council?: { readonly authorities: number; readonly threshold: number; readonly tolerated: number };
  /** Authorities on the server's side, and those that answer nobody. */
  readonly colluding?: readonly number[];
  readonly gone?: readonly number[];
  /** The server asks each authority for any batch, and shows or keeps back what it likes; otherwise it is honest. */
  readonly isLying?: boolean;
  /** Time passes: epochs end and others open. */
  readonly hours?: boolean;
  readonly crashes?: boolean;
  /** One authority may come back with an older log, once. */
  readonly restores?: boolean;
}

export interface ShotState extends Disks {
  readonly hour: number;
  readonly facts: number;
}
