/**
 * One user in one buffer, from deposit to acknowledgement. The record of a step holds everything that is needed later, so after a crash the
 * session continues with exactly the same bytes or not at all.
 *
 *     prepared --slot--> slotted --key, freeze--> frozen --acknowledged--> acknowledged
 *         \                 \--> abandoned             \--outcome--> released
 *          \--> abandoned        (a frozen session cannot be abandoned: its bytes may have left)
 *
 *     one-shot:  shot --acknowledged--> acknowledged     (one record; its bytes may have left once it is durable)
 */
import { type RandomBytes, Secret, type Suite, type VectorKernel } from '@basa/masking';
import type { UploadHeaderBody } from '../wire/authority-messages.ts';
import type { Ctx, DepositRoot, JoinTag, Slot } from '../wire/brands.ts';
import { type Certificate, userIdOf } from '../wire/certificate.ts';
import { ctxOf, type Descriptor } from '../wire/descriptor.ts';
import { joinTagOf } from '../wire/naming.ts';
import { type ShotHeaderBody, uploadNameOf } from '../wire/one-shot/upload.ts';
import type { TaskPolicy } from '../wire/policy.ts';
import type { RefusalReason } from '../wire/refusals.ts';
import type { BufferSealing } from '../wire/sealing.ts';
import type { Receipt, Ticket } from '../wire/slot-statements.ts';
import type { SealedParts } from '../wire/upload-layout.ts';
import { depositRootOf, type InboxEntry, type SealedSeed } from '../wire/user-messages.ts';

export interface UserPorts {
  readonly suite: Suite;
  readonly randomBytes: RandomBytes;
  /** The sealing of the buffer's engine and public key. */
  readonly sealing: BufferSealing;
  /** Packs the upload; without it, a loop in TypeScript does. */
  readonly kernel?: VectorKernel | undefined;
}

/** The identity of the session; the same in every step. */
export interface Membership {
  readonly descriptor: Descriptor;
  readonly ctx: Ctx;
  readonly slotKeys: Uint8Array;
  readonly certificate: Certificate;
  readonly nonce: Uint8Array;
  readonly joinTag: JoinTag;
  readonly root: DepositRoot;
  /** Names the update, and fixes the quantised input made of it. */
  readonly deltaId: Uint8Array;
  readonly inputDigest: Uint8Array;
}

/** The identity of an upload of the one-shot mode. */
interface ShotMembership {
  readonly policy: TaskPolicy;
  /** The name of the upload: the hash of its header. */
  readonly ctx: Ctx;
  readonly certificate: Certificate;
  readonly joinTag: JoinTag;
  readonly deltaId: Uint8Array;
}

export interface ShotSession {
  readonly step: 'shot';
  readonly member: ShotMembership;
  readonly header: ShotHeaderBody;
  /** One for each part, in order. */
  readonly seeds: readonly Secret[];
  /** The same, sealed: the end of the body. */
  readonly sealed: Uint8Array;
}

interface OwnSeeds {
  /** s_1 .. s_{K-1}: seed n is for slot n + 1. */
  readonly edges: readonly Secret[];
}

export interface PreparedSession extends OwnSeeds {
  readonly step: 'prepared';
  readonly member: Membership;
  readonly entries: readonly SealedSeed[];
}

export interface SlottedSession extends OwnSeeds {
  readonly step: 'slotted';
  readonly member: Membership;
  readonly ticket: Ticket;
  readonly inbox: readonly InboxEntry[];
  readonly ephemeralSecret: Secret;
  /** Its public half. */
  readonly ephemeralKey: Uint8Array;
}

export interface FrozenSession extends OwnSeeds {
  readonly step: 'frozen';
  readonly member: Membership;
  readonly header: UploadHeaderBody;
  /** b. */
  readonly self: Secret;
  /** s_il of the slots i < l that are not void, in order. */
  readonly earlier: readonly Secret[];
  /** The same, sealed. */
  readonly parts: SealedParts;
}

export type UserSession =
  | PreparedSession
  | SlottedSession
  | FrozenSession
  | ShotSession
  | { readonly step: 'acknowledged'; readonly member: Membership | ShotMembership }
  | { readonly step: 'released'; readonly member: Membership | ShotMembership }
  | { readonly step: 'abandoned'; readonly member: Membership; readonly reason: RefusalReason };

/** Holds secrets: keep it where only the device's owner can read. */
export type UserRecord =
  | {
      readonly kind: 'prepared';
      readonly descriptor: Descriptor;
      readonly slotKeys: Uint8Array;
      readonly certificate: Certificate;
      readonly nonce: Uint8Array;
      readonly deltaId: Uint8Array;
      readonly inputDigest: Uint8Array;
      readonly edges: readonly Uint8Array[];
      readonly entries: readonly SealedSeed[];
    }
  | {
      readonly kind: 'slotted';
      readonly ticket: Ticket;
      readonly inbox: readonly InboxEntry[];
      readonly ephemeralSecret: Uint8Array;
    }
  /** After this, only these bytes are ever sent to this buffer. The ledger marks delta -> ctx in the same step. */
  | {
      readonly kind: 'frozen';
      readonly receipt: Receipt;
      readonly voids: readonly Slot[];
      readonly bodyHash: Uint8Array;
      readonly self: Uint8Array;
      readonly earlier: readonly Uint8Array[];
      readonly parts: SealedParts;
      /** The first bytes of the sealed self seed, if the engine names it by them. */
      readonly selfName: Uint8Array;
    }
  /** One-shot: the same promise. */
  | {
      readonly kind: 'shot';
      readonly policy: TaskPolicy;
      readonly certificate: Certificate;
      readonly deltaId: Uint8Array;
      readonly header: ShotHeaderBody;
      readonly seeds: readonly Uint8Array[];
      readonly sealed: Uint8Array;
    }
  | { readonly kind: 'acknowledged' }
  | { readonly kind: 'released' }
  | { readonly kind: 'abandoned'; readonly reason: RefusalReason };

/** The session after one more record; undefined before the first. */
export function evolveSession(suite: Suite, session: UserSession | undefined, entry: UserRecord): UserSession {
  if (entry.kind === 'prepared') {
    const { edges, entries } = entry;
    return { step: 'prepared', member: membershipOf(suite, entry), edges: edges.map(secret), entries };
  }
  if (entry.kind === 'shot') {
    const { policy, certificate, deltaId, header, seeds, sealed } = entry;
    const { joinTag } = header;
    const member = { policy, ctx: uploadNameOf(suite, header), certificate, joinTag, deltaId };
    return { step: 'shot', member, header, seeds: seeds.map(secret), sealed };
  }
  if (session === undefined) throw new Error(`a session does not start with "${entry.kind}"`);
  const member = session.member as Membership;
  switch (entry.kind) {
    case 'slotted': {
      const { edges } = session as PreparedSession;
      const { ticket, inbox, ephemeralSecret } = entry;
      const ephemeralKey = suite.x25519(ephemeralSecret).publicKey;
      return { step: 'slotted', member, edges, ticket, inbox, ephemeralSecret: secret(ephemeralSecret), ephemeralKey };
    }
    case 'frozen': {
      const { edges, ticket } = session as SlottedSession;
      const { receipt, voids, selfName, bodyHash, self, earlier, parts } = entry;
      const { ctx, joinTag } = member;
      const { slot, view } = ticket;
      const header: UploadHeaderBody = { ctx, slot, joinTag, view, selfName, bodyHash, voids, receipt };
      return { step: 'frozen', member, edges, header, self: secret(self), earlier: earlier.map(secret), parts };
    }
    case 'acknowledged':
    case 'released':
      return { step: entry.kind, member: session.member };
    case 'abandoned':
      return { step: 'abandoned', member, reason: entry.reason };
  }
}

/** A record keeps its bytes, and the session wipes its own. */
function secret(bytes: Uint8Array): Secret {
  return new Secret(bytes.slice());
}

function membershipOf(suite: Suite, entry: Extract<UserRecord, { kind: 'prepared' }>): Membership {
  const { descriptor, slotKeys, certificate, nonce, deltaId, inputDigest, entries } = entry;
  const ctx = ctxOf(suite, descriptor);
  const joinTag = joinTagOf(suite, { ctx, user: userIdOf(suite, certificate.deviceKey), nonce });
  const root = depositRootOf(suite, entries);
  return { descriptor, ctx, slotKeys, certificate, nonce, joinTag, root, deltaId, inputDigest };
}

/** Overwrites every secret the session holds: when it ends, or before it is dropped from memory. */
export function wipeSession(session: UserSession): void {
  if (session.step === 'shot') for (const seed of session.seeds) seed.wipe();
  if (session.step !== 'prepared' && session.step !== 'slotted' && session.step !== 'frozen') return;
  for (const held of [...session.edges, ...laterSecrets(session)]) held.wipe();
}

function laterSecrets(session: PreparedSession | SlottedSession | FrozenSession): readonly Secret[] {
  if (session.step === 'slotted') return [session.ephemeralSecret];
  return session.step === 'frozen' ? [session.self, ...session.earlier] : [];
}
