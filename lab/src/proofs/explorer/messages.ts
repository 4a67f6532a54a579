/** What travels between the parties of an exploration. Sent once, a message may arrive never, late, or again. */
import type {
  CloseAnswer,
  CloseRequest,
  Deposit,
  DepositAnswer,
  KeyAnswer,
  KeyRequest,
  ModelAppend,
  ModelEntry,
  Outcome,
  UploadHeader,
} from '@basa/protocol';

export type Message =
  | { readonly kind: 'deposit'; readonly user: number; readonly buffer: number; readonly value: Deposit }
  | { readonly kind: 'slot'; readonly user: number; readonly buffer: number; readonly value: DepositAnswer }
  | { readonly kind: 'key-request'; readonly user: number; readonly buffer: number; readonly value: KeyRequest }
  | { readonly kind: 'key'; readonly user: number; readonly buffer: number; readonly value: KeyAnswer }
  | {
      readonly kind: 'upload';
      readonly user: number;
      readonly buffer: number;
      readonly value: UploadHeader;
      readonly body: Uint8Array;
    }
  | { readonly kind: 'acknowledgement'; readonly user: number; readonly buffer: number; readonly value: UploadHeader }
  | { readonly kind: 'close-request'; readonly buffer: number; readonly value: CloseRequest }
  | { readonly kind: 'close-answer'; readonly buffer: number; readonly value: CloseAnswer }
  | { readonly kind: 'append'; readonly buffer: number; readonly value: ModelAppend }
  | { readonly kind: 'model-entry'; readonly buffer: number; readonly value: ModelEntry }
  | { readonly kind: 'outcome'; readonly buffer: number; readonly value: Outcome };

/** One way a step may end: what the party has on disk then, what it sent, and what happened in words. */
export interface Ending<Local> {
  readonly local: Local;
  readonly sent: readonly Message[];
  readonly words: string;
}

/** The live state a step ended in is not what its records give. */
export class RestoreError extends Error {}
