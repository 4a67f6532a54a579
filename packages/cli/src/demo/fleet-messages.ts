/** The messages between the demo and its fleet workers: plain data between threads. */
import type { Costs } from '@basa/client/node';

export interface FleetDevice {
  readonly number: number;
  readonly folder: string;
  readonly token: string;
  /** Its examples in the training set. */
  readonly indices: Uint32Array;
}

export interface FleetWork {
  readonly server: string;
  readonly authority: string;
  readonly authorityKey: string;
  readonly task: string;
  readonly devices: readonly FleetDevice[];
  readonly seed: number;
  /** Mean of the pause between two contributions of a device. */
  readonly pauseMs: number;
  /** The share of contributions that are permanently given up before they are sent. */
  readonly dropShare: number;
}

/** An update that a buffer accepted, with its training settings, so that the run can be repeated without security. */
export interface AcceptedNews {
  readonly kind: 'accepted';
  readonly device: number;
  readonly round: number;
  readonly trainedOn: number;
  /** The name of the upload. */
  readonly ctx: string;
  readonly costs: Costs;
}

export type FleetNews =
  | { readonly kind: 'ready'; readonly device: number }
  | AcceptedNews
  | { readonly kind: 'dropped'; readonly device: number; readonly step: string }
  | { readonly kind: 'rejected'; readonly device: number; readonly reason: string }
  | { readonly kind: 'retry' };

/** The seed of a device's training in one of its rounds. */
export function trainingSeed(seed: number, device: number, round: number): number {
  return (seed * 1_000_003 + device * 10_007 + round) % 2 ** 31;
}
