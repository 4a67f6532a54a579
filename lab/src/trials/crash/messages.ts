/** The messages between the process of some devices and the run that starts it. */

export interface DevicesWork {
  readonly server: string;
  readonly authority: string;
  readonly authorityKey: string;
  readonly task: string;
  readonly dimension: number;
  readonly devices: readonly { readonly number: number; readonly folder: string; readonly token: string }[];
}

/** To the devices: the work, then which coordinate a device offers next. */
export type ToDevices =
  | { readonly kind: 'work'; readonly work: DevicesWork }
  | { readonly kind: 'offer'; readonly device: number; readonly place: number };

export type FromDevices =
  | { readonly kind: 'ready' }
  | { readonly kind: 'step'; readonly device: number; readonly step: string }
  /** The device has nothing to do. After a start, what became of its coordinate is known only if its session goes on. */
  | { readonly kind: 'idle'; readonly device: number; readonly isUnknown: boolean }
  | {
      readonly kind: 'acknowledged';
      readonly device: number;
      readonly place: number;
      readonly ctx: string;
      readonly joinTag: string;
    }
  | {
      readonly kind: 'rejected';
      readonly device: number;
      readonly place: number;
      readonly reason: string;
      readonly update: 'free' | 'given';
    }
  /** A service does not answer, or asks to come again later: in its words. */
  | { readonly kind: 'put-off'; readonly device: number; readonly what: string }
  /** Something that no crash explains. */
  | { readonly kind: 'fault'; readonly device: number; readonly what: string };
