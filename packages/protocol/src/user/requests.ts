/** The requests of a contribution to its driver, which answers them synchronously or asynchronously. */
import type { KeyResult, KeyWork, MaskPlan } from '@basa/masking';
import type { KeyRequest, UploadHeader } from '../wire/authority-messages.ts';
import type { ShotUpload } from '../wire/one-shot/upload.ts';
import type { RefusalReason, Refused } from '../wire/refusals.ts';
import type { SealingResult, SealingWork } from '../wire/sealing-work.ts';
import type { Deposit, DepositAnswer } from '../wire/user-messages.ts';
import type { DeviceStep } from './device.ts';
import type { KeyAnswerOf } from './key.ts';

/** The work of a kernel: the plan, applied to the vector in place, turns x' into y. */
export interface Masking {
  readonly kind: 'masking';
  readonly vector: Uint32Array;
  readonly plan: MaskPlan;
}

/** The requests to the driver, each with its answer. */
interface Requests {
  /** With the device's key, for the message that follows. */
  sign: { readonly asked: { readonly statement: Uint8Array; readonly of: Sent }; readonly answer: Uint8Array };
  /** Stores all records of the step or no record, before anything else happens. */
  durable: { readonly asked: { readonly step: DeviceStep<object> }; readonly answer: undefined };
  /** To the server. */
  deposit: { readonly asked: { readonly message: Deposit }; readonly answer: DepositAnswer | Refused };
  /** To every authority with a part in the buffer: the answers of as many as are needed. */
  key: { readonly asked: { readonly message: KeyRequest }; readonly answer: readonly KeyAnswerOf[] | Refused };
  /** Seeds to seal or to open. */
  sealing: { readonly asked: { readonly work: SealingWork }; readonly answer: SealingResult };
  /** One-shot: agreements on keys, one result for each work. */
  keys: { readonly asked: { readonly work: readonly KeyWork[] }; readonly answer: readonly KeyResult[] };
  /** x', as it was fixed before the deposit. It is copied. */
  input: { readonly asked: object; readonly answer: Uint32Array };
  /** The plan, applied to the vector in place. */
  mask: { readonly asked: { readonly masking: Masking }; readonly answer: undefined };
  /** To the server; `isResumed` if bytes of it may have left before. */
  upload: {
    readonly asked: { readonly header: UploadHeader; readonly body: Uint8Array; readonly isResumed: boolean };
    readonly answer: { readonly kind: 'accepted' } | Refused;
  };
  /** One-shot: the only message to the server. */
  shot: {
    readonly asked: { readonly upload: ShotUpload; readonly body: Uint8Array; readonly isResumed: boolean };
    readonly answer: { readonly kind: 'accepted' } | Refused;
  };
}

type Sent = 'deposit' | 'key' | 'upload';

export type ContributeRequest = {
  [Kind in keyof Requests]: { readonly kind: Kind } & Requests[Kind]['asked'];
}[keyof Requests];

export type ContributeAnswer = Requests[keyof Requests]['answer'];

/**
 * `left`: the device has left the buffer for good and gave nothing of the update away. `held`: the server refused bytes that were already
 * offered, so only the authority's outcome frees the update. `damaged`: the stored state is not the state that the device wrote.
 */
export type ContributeEnd =
  | { readonly kind: 'acknowledged' }
  | { readonly kind: 'left'; readonly reason: RefusalReason }
  | { readonly kind: 'held'; readonly reason: RefusalReason }
  | { readonly kind: 'damaged'; readonly problem: string };

export type Steps<End> = Generator<ContributeRequest, End, ContributeAnswer>;

export function* ask<Kind extends keyof Requests>(
  kind: Kind,
  asked: Requests[Kind]['asked'],
): Steps<Requests[Kind]['answer']> {
  // The driver pairs them: an answer of another kind is its fault.
  return (yield { kind, ...asked } as ContributeRequest) as Requests[Kind]['answer'];
}
