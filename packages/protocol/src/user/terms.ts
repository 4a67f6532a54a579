/**
 * The terms that a device follows: link by link from its pinned policy, each at its time, and never back. Every term
 * that it was shown is kept with the time of the device's own clock, also before it takes effect.
 */
import { equalBytes, type Suite } from '@basa/masking';
import { type Millis, millis } from '../wire/brands.ts';
import { type Codec, message } from '../wire/codec.ts';
import { MAX_CLOCK_ERROR_MS } from '../wire/council-clock.ts';
import { optional, u32 } from '../wire/fields.ts';
import { KIND } from '../wire/kinds.ts';
import { field } from '../wire/named-fields.ts';
import type { TaskPolicy } from '../wire/policy.ts';
import { isRefused, type Refused, refused } from '../wire/refusals.ts';
import { followLine, inTerm, type Line, type Term, termField, termHashOf } from '../wire/term.ts';
import { type DeviceLedger, EMPTY_LEDGER } from './ledger.ts';

/** A term, and the time at which this device was first shown it. */
export interface SeenTerm {
  readonly term: Term;
  readonly seenAt: Millis;
}

export const seenTermCodec: Codec<SeenTerm> = message<SeenTerm>(KIND.keptTerm, 'keptTerm', {
  term: termField,
  seenAt: field.millis,
});

/** The position of a device in the line of terms. */
export interface TermPlace {
  /** The number of the term that it is in. */
  readonly followed: number;
  /** The last time at which the device heard from enough authorities of that term. Its first look for terms counts as such a time. */
  readonly heardAt: Millis | undefined;
}

export const termPlaceCodec: Codec<TermPlace> = message<TermPlace>(KIND.keptPlace, 'keptPlace', {
  followed: u32,
  heardAt: optional(field.millis),
});

export interface DeviceTerms extends TermPlace {
  readonly seen: readonly SeenTerm[];
}

export const NO_TERMS: DeviceTerms = { followed: 0, heardAt: undefined, seen: [] };

/**
 * The ledger of a device that moves from one place to another. In another term nothing counts that was signed before, so a device also
 * forgets the newest version and epochs that it has seen: a key that was stolen and then replaced may have signed numbers that its
 * successor never reaches. Updates that were given away stay in the ledger.
 */
export function ledgerAt(ledger: DeviceLedger, from: TermPlace, to: TermPlace): DeviceLedger {
  const { seen, recent, epochs } = EMPTY_LEDGER;
  return from.followed === to.followed ? ledger : { ...ledger, seen, recent, epochs };
}

export interface TermQuestion {
  readonly suite: Suite;
  /** By the device's own clock. */
  readonly now: Millis;
  /** True for a term that the application itself names: a device follows up to it without waiting. */
  isTrusted?(policy: TaskPolicy): boolean;
}

/** The device after it was shown a line; its records are new terms and its place. */
export interface FollowedTerms {
  readonly kind: 'followed';
  readonly terms: DeviceTerms;
  /** In the term that the device is in now. */
  readonly policy: TaskPolicy;
}

/**
 * Shows a line of terms to the device. A shorter line changes nothing, because a server may not know the newest term yet. A line that
 * contradicts a known term is refused, because enough seats signed both.
 */
export function receiveLine(question: TermQuestion, device: DeviceTerms, line: Line): FollowedTerms | Refused {
  const { suite, now } = question;
  const policies = followLine(suite, line);
  if (isRefused(policies)) return policies;
  const isSame = ({ term }: SeenTerm, n: number): boolean => {
    const shown = line.terms[n];
    return shown === undefined || equalBytes(termHashOf(suite, shown), termHashOf(suite, term));
  };
  if (!device.seen.every(isSame)) return refused('term-forked');
  const added = line.terms.slice(device.seen.length).map((term): SeenTerm => ({ term, seenAt: now }));
  return advance(question, { ...device, seen: [...device.seen, ...added] }, line.policy);
}

/**
 * Follows the seen terms whose time has come. A device that was away for too long neither follows nor stays by itself: the server may hide
 * the line, and retired keys may speak for the term that the device is in.
 */
export function advance(question: TermQuestion, device: DeviceTerms, root: TaskPolicy): FollowedTerms | Refused {
  const { suite, now } = question;
  let policy = policyInTerm(suite, root, device);
  let { followed } = device;
  const { heardAt = now } = device;
  const trusted = trustedNumber(question, root, device.seen);
  for (const one of device.seen.slice(followed)) {
    const isTrusted = one.term.number <= trusted;
    if (now < (isTrusted ? one.term.effective : dueAt(policy, one))) break;
    policy = inTerm(suite, policy, one.term);
    followed = one.term.number;
  }
  if (followed > trusted && isLate(policy, heardAt, now)) return refused('term-late');
  return { kind: 'followed', terms: { ...device, followed, heardAt }, policy };
}

/** The policy in the term that the device is in. The seen terms were checked when they were shown. */
export function policyInTerm(suite: Suite, root: TaskPolicy, { followed, seen }: DeviceTerms): TaskPolicy {
  return seen.slice(0, followed).reduce((policy, { term }) => inTerm(suite, policy, term), root);
}

/**
 * With several authorities at its effective time. A single authority that lost its key cannot warn anybody: the device
 * waits as long as the policy says since it was first shown the term, by its own clock.
 */
function dueAt({ authorities, succession }: TaskPolicy, { term, seenAt }: SeenTerm): Millis {
  if (authorities.length > 1) return term.effective;
  return millis(Math.max(term.effective, seenAt + (succession?.waitMs ?? 0)));
}

/** A clock that was set back says nothing about the time since then, unless it was only corrected. */
function isLate(policy: TaskPolicy, heardAt: Millis, now: Millis): boolean {
  const longestMs = longestAbsenceMs(policy);
  if (longestMs === Number.POSITIVE_INFINITY) return false;
  return now - heardAt > longestMs || heardAt - now > MAX_CLOCK_ERROR_MS;
}

/**
 * Keys of seats that were replaced may be stolen afterwards, and t of them can sign a line of their own, or everything in the term that
 * they were in. Two terms are at least W apart, so that t seats are replaced no sooner than (t - 1) W after the device heard from all of
 * them. With a single authority, a forger of terms also needs the recovery key.
 */
export function longestAbsenceMs({ threshold, succession }: TaskPolicy): number {
  return threshold === 1 || succession === undefined ? Number.POSITIVE_INFINITY : (threshold - 1) * succession.waitMs;
}

/** The number of the last term that the application names; -1 if it names none, not even the first. */
function trustedNumber({ suite, isTrusted }: TermQuestion, root: TaskPolicy, seen: readonly SeenTerm[]): number {
  let [policy, trusted] = [root, isTrusted?.(root) ? 0 : -1];
  for (const { term } of seen) {
    policy = inTerm(suite, policy, term);
    if (isTrusted?.(policy)) trusted = term.number;
  }
  return trusted;
}
