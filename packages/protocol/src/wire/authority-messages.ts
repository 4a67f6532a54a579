/** The messages from an authority to servers about devices. */
import type { UserId } from './brands.ts';
import { list } from './fields.ts';
import { KIND } from './kinds.ts';
import { field } from './named-fields.ts';
import { type Signature, type SignedCodec, signedMessage } from './signed.ts';

/** authority -> servers: all devices that it has revoked. */
export interface RevocationsBody {
  readonly users: readonly UserId[];
}
export type Revocations = RevocationsBody & Signature;

/** The most that an authority lists: of more, the newest. */
export const MAX_REVOCATIONS = 65_535;

export const revocationsCodec: SignedCodec<RevocationsBody> = signedMessage(KIND.revocations, 'revocations', {
  users: list(MAX_REVOCATIONS, field.user),
});
