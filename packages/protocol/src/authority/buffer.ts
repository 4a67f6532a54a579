/**
 * One buffer as the authority sees it. Nothing here can hold a ciphertext or an update.
 *
 *     open --vote--> open, voted --enough votes--> closed    (final; the keys of `accepted` and of the rest are fixed)
 *       \--closeBy or the server's word, without a vote--> aborted   (final; nothing is ever released)
 *       \--rolled back, or voted and nothing heard for a week--> unknown   (final; no key, no release, no promise)
 */
import type { Signer, Suite } from '@basa/masking';
import { type AbortRequest, abortRequestCodec } from '../wire/authority-messages.ts';
import { type Ctx, type Millis, millis } from '../wire/brands.ts';
import { indexOf, signInTerm } from '../wire/council.ts';
import { type BufferPart, ctxOf, type Descriptor, type SignedDescriptor, withPolicy } from '../wire/descriptor.ts';
import { type Outcome, type OutcomeBody, outcomeCodec, outcomeTerm } from '../wire/outcome.ts';
import type { TaskPolicy } from '../wire/policy.ts';
import { refused } from '../wire/refusals.ts';
import type { BufferIssuer, BufferKeys } from '../wire/sealing.ts';
import { isSigned } from '../wire/signed.ts';
import { declined, type Transition } from '../wire/transition.ts';
import type { AuthorityRecord, BufferClosed, BufferLost, KeyIssued } from './records.ts';

export interface AuthorityPorts {
  readonly suite: Suite;
  readonly signer: Signer;
  /** The issuer of the key epoch that the part of a buffer names; undefined once the epoch is destroyed. */
  issuerFor(part: { readonly engine: number; readonly sealingKey: Uint8Array }): BufferIssuer | undefined;
}

export interface AuthorityBuffer {
  readonly ctx: Ctx;
  readonly descriptor: Descriptor;
  readonly status: 'open' | 'closed' | 'aborted' | 'unknown';
  readonly slots: ReadonlyMap<number, KeyIssued>;
  /** The hash of the close that this authority voted for. */
  readonly voted?: Uint8Array;
  /** Set when closed. */
  readonly closed?: BufferClosed;
  /** The version made from its sum. */
  readonly version?: number;
}

export function drawnBuffer(suite: Suite, policy: TaskPolicy, signed: SignedDescriptor): AuthorityBuffer {
  return { ctx: ctxOf(suite, signed), descriptor: withPolicy(policy, signed), status: 'open', slots: new Map() };
}

/** The buffer after one of its records. */
export function evolveBuffer(buffer: AuthorityBuffer, entry: AuthorityRecord): AuthorityBuffer {
  switch (entry.kind) {
    case 'key-issued':
      return { ...buffer, slots: new Map(buffer.slots).set(entry.slot, entry) };
    case 'buffer-voted':
      return { ...buffer, voted: entry.closing };
    case 'buffer-closed':
      return { ...buffer, status: 'closed', closed: entry };
    case 'buffer-aborted':
      return { ...buffer, status: 'aborted' };
    case 'buffer-unknown':
      return { ...buffer, status: 'unknown' };
    case 'model-appended':
      return entry.entry.version > 0 ? { ...buffer, version: entry.entry.version } : buffer;
    default:
      return buffer;
  }
}

/** The time after closeBy for which an authority that voted waits for the votes of others. */
const UNDECIDED_MS = 7 * 24 * 3_600_000;

/**
 * After closeBy, the next access durably aborts an open buffer, with two exceptions. After a vote the other authorities may have closed the
 * buffer, so it is given up as unknown if there is no news for a week. If a version was made from the buffer, they have closed it.
 */
export function endIfOverdue(buffer: AuthorityBuffer, now: Millis): readonly BufferLost[] {
  const { ctx, descriptor } = buffer;
  const isDecided = buffer.status !== 'open' || buffer.voted !== undefined || buffer.version !== undefined;
  if (!isDecided && now >= descriptor.closeBy) return [{ kind: 'buffer-aborted', ctx }];
  const isGivenUp = buffer.status === 'open' && buffer.version === undefined && now >= endOf(buffer);
  return isGivenUp ? [{ kind: 'buffer-unknown', ctx }] : [];
}

/**
 * Ends a buffer before its time, only for its server. Nothing of it is ever released, so that the updates in it are
 * free again.
 */
export function abortBuffer(
  ports: AuthorityPorts,
  buffer: AuthorityBuffer,
  request: AbortRequest,
  now: Millis,
): Transition<AuthorityBuffer, AuthorityRecord, Outcome> {
  const { ctx, descriptor, status, voted, version } = buffer;
  if (!isSigned(ports.suite, abortRequestCodec, request, descriptor.serverKey))
    return declined(buffer, refused('server-unknown'));
  const isUndecided = status === 'open' && voted === undefined && version === undefined;
  const records: readonly BufferLost[] = isUndecided ? [{ kind: 'buffer-aborted', ctx }] : endIfOverdue(buffer, now);
  const state = records.reduce(evolveBuffer, buffer);
  return { state, records, answer: signOutcome(ports, ctx, state), events: records };
}

/** The time at which an open buffer is aborted automatically. */
export function endOf({ descriptor, voted }: AuthorityBuffer): Millis {
  return millis(descriptor.closeBy + (voted === undefined ? 0 : UNDECIDED_MS));
}

/** The authority's statement on the status of the buffer. Undefined means an unknown buffer. */
export function signOutcome({ signer }: AuthorityPorts, ctx: Ctx, buffer: AuthorityBuffer | undefined): Outcome {
  const accepted = (buffer?.closed?.accepted ?? []).map(({ slot, joinTag }) => ({ slot, joinTag }));
  const body: OutcomeBody = { ctx, status: buffer?.status ?? 'unknown', accepted };
  return signInTerm(outcomeCodec, outcomeTerm(buffer?.descriptor ?? {}, body), signer, body);
}

/** The part of the authority with this key in the buffer. Undefined if it has no part. */
export function ownPart(publicKey: Uint8Array, descriptor: Descriptor): BufferPart | undefined {
  const own = indexOf(descriptor, publicKey);
  return descriptor.parts.find(({ authority }) => authority === own);
}

/** The keys of its part; undefined once the key epoch is destroyed. */
export function ownKeys(ports: AuthorityPorts, { ctx, descriptor }: AuthorityBuffer): OwnKeys | undefined {
  const part = ownPart(ports.signer.publicKey, descriptor);
  const issuer = part && ports.issuerFor({ engine: descriptor.engine, sealingKey: part.sealingKey });
  if (part === undefined || issuer === undefined) return undefined;
  const { task, bufferSize } = descriptor;
  const { authority, offer } = part;
  return { issuer, keys: issuer.keysOf({ ctx, authority, source: { task, bufferSize, offer } }) };
}

interface OwnKeys {
  readonly issuer: BufferIssuer;
  readonly keys: BufferKeys;
}
