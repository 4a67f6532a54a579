/** The status of a buffer, as authorities vote for it and state it. */
import { equalBytes, type Suite, toHex } from '@basa/masking';
import type { Ctx, JoinTag, Slot } from './brands.ts';
import { type Council, isSignedBySeat } from './council.ts';
import { list, oneOf, record } from './fields.ts';
import { KIND } from './kinds.ts';
import { MAX_SLOTS } from './limits.ts';
import { field } from './named-fields.ts';
import { type Signature, type SignedCodec, signedMessage } from './signed.ts';

const OUTCOMES = ['unknown', 'open', 'aborted', 'closed'] as const;
export type OutcomeStatus = (typeof OUTCOMES)[number];

/** The status of a buffer; for a closed one, the members of the sum. */
export interface OutcomeBody {
  readonly ctx: Ctx;
  readonly status: OutcomeStatus;
  readonly accepted: readonly { readonly slot: Slot; readonly joinTag: JoinTag }[];
}
export type Outcome = OutcomeBody & Signature;

const { ctx, joinTag, slot } = field;

export const outcomeCodec: SignedCodec<OutcomeBody> = signedMessage(KIND.outcome, 'outcome', {
  ctx,
  status: oneOf(OUTCOMES),
  accepted: list(MAX_SLOTS, record({ slot, joinTag })),
});

/** One authority's statement on the status of a buffer. */
export interface OutcomeOf {
  /** Its index. */
  readonly authority: number;
  readonly outcome: Outcome;
}

/** True if the authority signed this, about this buffer. */
export function isOutcomeOf(
  suite: Suite,
  council: Omit<Council, 'threshold'>,
  wanted: Ctx,
  { authority, outcome }: OutcomeOf,
): boolean {
  const { authorities } = council;
  const seats = { authorities, ...outcomeTerm(council, outcome) };
  return equalBytes(outcome.ctx, wanted) && isSignedBySeat(suite, outcomeCodec, seats, authority, outcome);
}

/** The term in which it is signed. For an unknown buffer the authority does not know the task, and the statement promises nothing. */
export function outcomeTerm({ term }: Pick<Council, 'term'>, { status }: OutcomeBody): Pick<Council, 'term'> {
  return status === 'unknown' || term === undefined ? {} : { term };
}

/** The status that enough authorities agree on. Undefined if they do not agree, or if one of them has not answered. */
export function agreedOutcome(
  suite: Suite,
  council: Council,
  wanted: Ctx,
  answers: readonly OutcomeOf[],
): OutcomeBody | undefined {
  const votes = new Map<string, Set<number>>();
  for (const { authority, outcome } of answers) {
    if (!isOutcomeOf(suite, council, wanted, { authority, outcome })) continue;
    const words = toHex(outcomeCodec.statementHash(suite, outcome));
    const alike = votes.get(words) ?? new Set<number>();
    votes.set(words, alike.add(authority));
    if (alike.size >= council.threshold) return outcome;
  }
  return undefined;
}
