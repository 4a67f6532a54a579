/** Asks all authorities to vote for a batch. Authorities that did not vote are asked once more with the votes of the others. */
import { equalBytes, toHex } from '@basa/masking';
import {
  type Batch,
  batchCtxOf,
  batchVote,
  type ClosingBatch,
  type Endorsement,
  joined,
  type ModelEntry,
  type ProblemCode,
  refusedSlots,
  type ShotBatch,
  type Verdict,
} from '@basa/protocol';
import { AuthorityRefusal, AuthorityUnreachable } from '../authority/authority-http.ts';
import { gather } from '../authority/gather.ts';
import type { Member, TaskAuthorities } from '../authority/task-authorities.ts';
import type { StoredShot } from '../store/shots.ts';
import type { Inspector } from './inspector.ts';

export interface VoteTools {
  readonly authorities: TaskAuthorities;
  readonly inspector: Inspector;
}

/** A batch that is being closed, with the headers of its uploads. */
export interface VotedBatch {
  readonly sum: ShotBatch;
  readonly closing: ClosingBatch;
  readonly shots: readonly StoredShot[];
  readonly models: readonly ModelEntry[];
}

interface RefusedVote {
  readonly code: ProblemCode | undefined;
  readonly slots: readonly number[];
}

/** `held`: batches that authorities claim to have voted for instead, with uploads of this one; an authority reports one. */
export interface Voting {
  readonly votes: readonly Endorsement[];
  readonly held: readonly Batch[];
  readonly refusals: readonly RefusedVote[];
}

/** The time for which the others are awaited once there are enough votes. */
const GRACE_MS = 500;

export async function askForVotes(tools: VoteTools, voted: VotedBatch): Promise<Voting> {
  const { policy } = voted.closing;
  const first = await askSome(tools, voted, voted.sum.votes);
  const isBacked = first.votes.length > (policy.oneShot?.tolerated ?? 0);
  if (first.votes.length >= policy.threshold || !isBacked) return first;
  return askSome(tools, voted, first.votes);
}

/** Asks those whose votes are missing. */
async function askSome(tools: VoteTools, voted: VotedBatch, known: readonly Endorsement[]): Promise<Voting> {
  const refusals: RefusedVote[] = [];
  const votes = [...known];
  const held: Batch[] = [];
  const ask = async (member: Member): Promise<void> => {
    const answer = await voteOf(tools, voted, member, known).catch((error: unknown) => {
      // An authority that restarted in the meantime has forgotten them again. This does not count against the uploads.
      if (error instanceof AuthorityRefusal && !isForgotten(error)) refusals.push(error);
      throw error;
    });
    if (answer.held !== undefined) held.push(answer.held);
    const own = answer.vote === undefined ? [] : batchVote(voted.closing, member.authority, answer.vote);
    if (own.length === 0) throw new AuthorityUnreachable('it did not vote for the batch');
    votes.push(...own);
  };
  const missing = tools.authorities.members.filter(
    ({ authority }) => !known.some((vote) => vote.authority === authority),
  );
  const needed = Math.max(1, voted.closing.policy.threshold - known.length);
  await gather(
    missing.map((member) => ({ authority: member.authority, ask: () => ask(member) })),
    { needed: Math.min(needed, missing.length), graceMs: GRACE_MS },
  ).catch(() => undefined); // the results are in `votes` and `refusals`
  return { votes: joined(votes), held, refusals };
}

/** An authority that restarted no longer knows the uploads that it inspected, so it gets them again. */
async function voteOf(
  { inspector }: VoteTools,
  { sum, shots, models }: VotedBatch,
  { link }: Member,
  votes: readonly Endorsement[],
) {
  const request = { batch: sum.batch, votes, models };
  try {
    return await link.voteForBatch(request);
  } catch (error) {
    if (!isForgotten(error)) throw error;
    const unseen = error.slots.flatMap((slot) => shots[slot] ?? []);
    checkGood(shots, await inspector.showAgain(link, unseen.length > 0 ? unseen : shots));
    return link.voteForBatch(request);
  }
}

/** The batch that more authorities hold than may lie. */
export function heldBatch({ held }: Voting, { closing }: VotedBatch): Batch | undefined {
  const { suite, policy } = closing;
  const names = held.map((batch) => toHex(batchCtxOf(suite, batch)));
  return held.find((_, n) => names.filter((name) => name === names[n]).length > (policy.oneShot?.tolerated ?? 0));
}

function isForgotten(error: unknown): error is AuthorityRefusal {
  return error instanceof AuthorityRefusal && error.code === 'not-inspected';
}

/**
 * Throws a refusal if the authority no longer finds some uploads good, because it remembers only good ones. A device that
 * it does not know is left to the vote.
 */
function checkGood(shots: readonly StoredShot[], verdicts: readonly Verdict[]): void {
  const slotOf = ({ upload }: Verdict): number => shots.findIndex(({ name }) => equalBytes(name, upload));
  const others = verdicts.filter(({ verdict, reason: why }) => verdict !== 'good' && why !== 'not-enrolled');
  const reason = others[0]?.reason;
  const same = others.filter((one) => one.reason === reason).map(slotOf);
  if (same.length > 0) throw new AuthorityRefusal(reason, 'uploads of the batch are no longer valid', same);
}

/** Uploads that more authorities refuse than may lie, each with the reason. */
export function refusedUploads({ refusals }: Voting, { closing, shots }: VotedBatch) {
  return [...refusedSlots(closing.policy, refusals)].flatMap(([slot, { code }]) => {
    const shot = shots[slot];
    return shot === undefined ? [] : [{ name: shot.name, code }];
  });
}
