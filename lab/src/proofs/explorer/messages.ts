/** The messages between the parties of an exploration. Sent once, a message may arrive never, late, or again. */
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

interface Kind<Name extends string, Value> {
  readonly kind: Name;
  readonly buffer: number;
  readonly value: Value;
}

interface OfUser {
  readonly user: number;
}

/** The index of the authority that sends it. */
interface FromAuthority {
  readonly from: number;
}

export type Message =
  | (Kind<'deposit', Deposit> & OfUser)
  | (Kind<'slot', DepositAnswer> & OfUser)
  | (Kind<'key-request', KeyRequest> & OfUser)
  | (Kind<'key', KeyAnswer> & OfUser & FromAuthority)
  | (Kind<'upload', UploadHeader> & OfUser & { readonly body: Uint8Array })
  | (Kind<'acknowledgement', UploadHeader> & OfUser)
  | Kind<'close-request', CloseRequest>
  | (Kind<'close-answer', CloseAnswer> & FromAuthority)
  | Kind<'append', ModelAppend>
  | (Kind<'model-entry', ModelEntry> & FromAuthority)
  | Kind<'adopt', ModelEntry>
  | (Kind<'outcome', Outcome> & FromAuthority);

export type MessageOf<Name extends Message['kind']> = Extract<Message, { kind: Name }>;

/** The messages of one kind among these. */
export function ofKind<Name extends Message['kind']>(
  messages: readonly Message[],
  kind: Name,
): readonly MessageOf<Name>[] {
  return messages.filter((message): message is MessageOf<Name> => message.kind === kind);
}

/** One way a step may end: the disk of the party then, its messages, and a description in words. */
export interface Ending<Local> {
  readonly local: Local;
  readonly sent: readonly Message[];
  readonly words: string;
}

/** The live state a step ended in differs from the state that its records give. */
export class RestoreError extends Error {}
