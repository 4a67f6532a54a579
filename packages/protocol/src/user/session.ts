/**
 * One upload of a device. Its record holds everything that is needed later, so after a crash the session continues with exactly the same
 * bytes or not at all: they may have left once the record is durable.
 *
 *     shot --acknowledged--> acknowledged
 */
import { type RandomBytes, Secret, type Suite, type VectorKernel } from '@basa/masking';
import type { Ctx, JoinTag } from '../wire/brands.ts';
import type { Certificate } from '../wire/certificate.ts';
import { type ShotHeaderBody, uploadNameOf } from '../wire/one-shot/upload.ts';
import type { TaskPolicy } from '../wire/policy.ts';

/** The outside of a device. */
export interface UserPorts {
  readonly suite: Suite;
  readonly randomBytes: RandomBytes;
  /** Packs the upload; without it, a loop in TypeScript does. */
  readonly kernel?: VectorKernel | undefined;
}

/** The identity of an upload; the same in every step. */
export interface Membership {
  readonly policy: TaskPolicy;
  /** The name of the upload: the hash of its header. */
  readonly ctx: Ctx;
  readonly certificate: Certificate;
  readonly joinTag: JoinTag;
  /** The version that the update was trained on. */
  readonly version: number;
}

export interface ShotSession {
  readonly step: 'shot';
  readonly member: Membership;
  readonly header: ShotHeaderBody;
  /** One for each part, in order. */
  readonly seeds: readonly Secret[];
  /** The same, sealed: the end of the body. */
  readonly sealed: Uint8Array;
}

export type UserSession = ShotSession | { readonly step: 'acknowledged'; readonly member: Membership };

/** Holds secrets: keep it where only the device's owner can read. */
export type UserRecord =
  /** After this, only these bytes are ever sent. The ledger marks the version as given in the same step. */
  | {
      readonly kind: 'shot';
      readonly policy: TaskPolicy;
      readonly certificate: Certificate;
      readonly header: ShotHeaderBody;
      readonly seeds: readonly Uint8Array[];
      readonly sealed: Uint8Array;
    }
  | { readonly kind: 'acknowledged' };

/** The session after one more record; undefined before the first. */
export function evolveSession(suite: Suite, session: UserSession | undefined, entry: UserRecord): UserSession {
  if (entry.kind === 'shot') {
    const { policy, certificate, header, seeds, sealed } = entry;
    const { joinTag, version } = header;
    const member = { policy, ctx: uploadNameOf(suite, header), certificate, joinTag, version };
    return { step: 'shot', member, header, seeds: seeds.map(secret), sealed };
  }
  if (session === undefined) throw new Error(`a session does not start with "${entry.kind}"`);
  return { step: entry.kind, member: session.member };
}

/** A record keeps its bytes, and the session wipes its own. */
function secret(bytes: Uint8Array): Secret {
  return new Secret(bytes.slice());
}

/** Overwrites every secret the session holds: when it ends, or before it is dropped from memory. */
export function wipeSession(session: UserSession): void {
  if (session.step === 'shot') for (const seed of session.seeds) seed.wipe();
}
