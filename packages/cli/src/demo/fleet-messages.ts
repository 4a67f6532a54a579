/** The messages between the demo and its fleet workers: plain data between threads. */
import type { Costs } from '@basa/client/node';
import type { ModeChoice } from '../flags/modes.ts';

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
  readonly mode: ModeChoice;
  readonly devices: readonly FleetDevice[];
  readonly seed: number;
  /** Mean of the pause between two contributions of a device. */
  readonly pauseMs: number;
  /** One-shot: the share of contributions that are permanently given up before they are sent. */
  readonly dropShare: number;
}

/** An update that the server accepted, with its training settings, so that the run can be repeated without security. */
export interface AcceptedNews {
  readonly kind: 'accepted';
  readonly device: number;
  readonly round: number;
  readonly trainedOn: number;
  /** The name of the buffer, or in one-shot mode of the upload. */
  readonly ctx: string;
  readonly costs: Costs;
}

export type FleetNews =
  | { readonly kind: 'ready'; readonly device: number }
  | AcceptedNews
  | { readonly kind: 'dropped'; readonly device: number; readonly step: string }
  | { readonly kind: 'rejected'; readonly device: number; readonly reason: string }
  | { readonly kind: 'retry' }
  /** The requests of a thread since its last message of this kind. */
  | { readonly kind: 'requests'; readonly count: number };

/** The seed of a device's training in one of its rounds. */
export function trainingSeed(seed: number, device: number, round: number): number {
  return (seed * 1_000_003 + device * 10_007 + round) % 2 ** 31;
}
