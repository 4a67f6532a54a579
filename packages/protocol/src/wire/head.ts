/** The head of an authority's own log. */
import { fixed, u53 } from './fields.ts';
import { KIND } from './kinds.ts';
import { field } from './named-fields.ts';
import { type Signature, type SignedCodec, signedMessage } from './signed.ts';

/** The position of the authority's own log: shown back to it, it reveals a rolled-back authority. */
export interface HeadBody {
  /** The life of the log: a new one begins when it was found rolled back. */
  readonly branch: Uint8Array;
  readonly sequence: number;
  /** The number of devices revoked so far: a server that knows fewer asks for the list. */
  readonly revocations: number;
  readonly hash: Uint8Array;
}
export type Head = HeadBody & Signature;

export const headCodec: SignedCodec<HeadBody> = signedMessage(KIND.head, 'head', {
  branch: fixed(16),
  sequence: u53,
  revocations: u53,
  hash: field.hash,
});
