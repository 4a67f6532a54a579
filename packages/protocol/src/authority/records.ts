/** The records that the authority must have on disk before it answers, and the hash chain over them that anyone can verify. */
import type { Suite } from '@basa/masking';
import type { Millis, UserId } from '../wire/brands.ts';
import { type Certificate, certificateCodec } from '../wire/certificate.ts';
import { type Codec, message, nested } from '../wire/codec.ts';
import { type Field, fixed, list, u53 } from '../wire/fields.ts';
import { type Head, headCodec } from '../wire/head.ts';
import { KIND } from '../wire/kinds.ts';
import { field, STATEMENT_BYTES } from '../wire/named-fields.ts';
import { policyField, type TaskPolicy } from '../wire/policy.ts';
import { recordUnion } from '../wire/record-union.ts';

export type AuthorityRecord =
  | { readonly kind: 'task-created'; readonly policy: TaskPolicy }
  | { readonly kind: 'device-enrolled'; readonly certificate: Certificate }
  | { readonly kind: 'device-revoked'; readonly user: UserId; readonly at: Millis }
  | BranchBegun;

/** The log was found rolled back: a new life of it begins. */
export interface BranchBegun {
  readonly kind: 'branch-begun';
  readonly branch: Uint8Array;
  /** The head that showed it, whose branch is retired by this; empty if there was no witness. */
  readonly met: readonly Head[];
}

const { hash, user } = field;
const codec: Codec<AuthorityRecord> = recordUnion('authority record', {
  'task-created': message(KIND.taskCreated, 'task-created', { policy: policyField }),
  'device-enrolled': message(KIND.deviceEnrolled, 'device-enrolled', {
    certificate: nested(certificateCodec, STATEMENT_BYTES),
  }),
  'device-revoked': message(KIND.deviceRevoked, 'device-revoked', { user, at: u53 as Field<Millis> }),
  'branch-begun': message(KIND.branchBegun, 'branch-begun', {
    branch: fixed(16),
    met: list(1, nested(headCodec, STATEMENT_BYTES)),
  }),
});

export const encodeAuthorityRecord = codec.encode;
/** Throws `DecodeError` for anything that is not a record. */
export const decodeAuthorityRecord = codec.decode;

const linkLayout = message<{ previous: Uint8Array; record: Uint8Array }>(KIND.logLink, 'logLink', {
  previous: hash,
  record: hash,
});

export const EMPTY_LOG_HASH: Uint8Array = new Uint8Array(32);

/** Hash of the log with one more record. */
export function nextLogHash(suite: Suite, previous: Uint8Array, entry: AuthorityRecord): Uint8Array {
  return linkLayout.hash(suite, { previous, record: suite.sha256(encodeAuthorityRecord(entry)) });
}
