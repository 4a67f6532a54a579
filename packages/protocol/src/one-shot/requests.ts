/**
 * The requests of a contribution, which is a coroutine: its driver answers them synchronously or asynchronously. It continues from the
 * device's records, so a crash makes no difference. A driver that cannot answer drops the coroutine and starts a new one later.
 */
import type { KeyResult, KeyWork, MaskPlan } from '@basa/masking';
import type { RefusalReason, Refused } from '../wire/refusals.ts';
import type { ShotUpload } from '../wire/upload.ts';
import type { DeviceStep } from './ledger.ts';

/** The work of a kernel: the plan, applied to the vector in place, turns x' into y. */
export interface Masking {
  readonly kind: 'masking';
  readonly vector: Uint32Array;
  readonly plan: MaskPlan;
}

/** The requests to the driver, each with its answer. */
interface Requests {
  /** With the device's key, for the message that follows. */
  sign: { readonly asked: { readonly statement: Uint8Array }; readonly answer: Uint8Array };
  /** Stores all records of the step and the body of the upload, or nothing, before anything else happens. */
  durable: {
    readonly asked: { readonly step: DeviceStep<object>; readonly body?: Uint8Array };
    readonly answer: undefined;
  };
  /** The stored body. */
  body: { readonly asked: object; readonly answer: Uint8Array | undefined };
  /** Agreements on keys, one result for each work. */
  keys: { readonly asked: { readonly work: readonly KeyWork[] }; readonly answer: readonly KeyResult[] };
  /** x'. It is masked in place. */
  input: { readonly asked: object; readonly answer: Uint32Array };
  /** The plan, applied to the vector in place. */
  mask: { readonly asked: { readonly masking: Masking }; readonly answer: undefined };
  /** The only message to the server; `isResumed` if bytes of it may have left before. */
  shot: {
    readonly asked: { readonly upload: ShotUpload; readonly body: Uint8Array; readonly isResumed: boolean };
    readonly answer: { readonly kind: 'accepted' } | Refused;
  };
}

export type ContributeRequest = {
  [Kind in keyof Requests]: { readonly kind: Kind } & Requests[Kind]['asked'];
}[keyof Requests];

export type ContributeAnswer = Requests[keyof Requests]['answer'];

/**
 * `left`: nothing of the update was given. `refused`: bytes that were given are not sent any more, so the device trains on a newer model.
 */
export type ContributeEnd =
  | { readonly kind: 'acknowledged' }
  | { readonly kind: 'left'; readonly reason: RefusalReason }
  | { readonly kind: 'refused'; readonly reason: RefusalReason };

export type Steps<End> = Generator<ContributeRequest, End, ContributeAnswer>;

export function* ask<Kind extends keyof Requests>(
  kind: Kind,
  asked: Requests[Kind]['asked'],
): Steps<Requests[Kind]['answer']> {
  // The driver pairs them: an answer of another kind is its fault.
  return (yield { kind, ...asked } as ContributeRequest) as Requests[Kind]['answer'];
}
