/** The parties of a one-shot world, the events that may happen in it, and its state. */
import type { Disks } from './disks.ts';

export interface ShotWorldOptions {
  readonly bufferSize: number;
  readonly minimum: number;
  /** Honest devices, with one update each. */
  readonly devices: number;
  /** Devices on the server's side, each with an upload. */
  readonly eves?: number;
  readonly council?: { readonly authorities: number; readonly threshold: number; readonly tolerated: number };
  /** Authorities that collude with the server, and authorities that do not answer. */
  readonly colluding?: readonly number[];
  readonly gone?: readonly number[];
  /** The server asks each authority for any batch, and shows or withholds anything; otherwise it is honest. */
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
