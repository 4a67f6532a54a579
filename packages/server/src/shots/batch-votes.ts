/** Asks all authorities to vote for a batch. */
import { equalBytes } from '@basa/masking';
import {
  batchVote,
  type ClosingBatch,
  type Endorsement,
  joined,
  type ProblemCode,
  refusedSlots,
  type ShotBatch,
  type Verdict,
  type Vote,
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
}

interface RefusedVote {
  readonly code: ProblemCode | undefined;
  readonly slots: readonly number[];
}

export interface Voting {
  readonly votes: readonly Endorsement[];
  readonly refusals: readonly RefusedVote[];
}

/** The time for which the others are awaited once there are enough votes. */
const GRACE_MS = 500;

/** Asks those whose votes are missing. */
export async function askForVotes(tools: VoteTools, voted: VotedBatch): Promise<Voting> {
  const known = voted.sum.votes;
  const refusals: RefusedVote[] = [];
  const votes = [...known];
  const ask = async (member: Member): Promise<void> => {
    const vote = await voteOf(tools, voted, member).catch((error: unknown) => {
      // An authority that restarted in the meantime has forgotten them again. This does not count against the uploads.
      if (error instanceof AuthorityRefusal && !isForgotten(error)) refusals.push(error);
      throw error;
    });
    const own = batchVote(voted.closing, member.authority, vote);
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
  return { votes: joined(votes), refusals };
}

/** An authority that restarted no longer knows the uploads that it inspected, so it gets them again. */
async function voteOf({ inspector }: VoteTools, { sum, shots }: VotedBatch, { link }: Member): Promise<Vote> {
  const request = { batch: sum.batch };
  try {
    return await link.voteForBatch(request);
  } catch (error) {
    if (!isForgotten(error)) throw error;
    const unseen = error.slots.flatMap((slot) => shots[slot] ?? []);
    checkGood(sum, shots, await inspector.showAgain(link, unseen.length > 0 ? unseen : shots));
    return link.voteForBatch(request);
  }
}

function isForgotten(error: unknown): error is AuthorityRefusal {
  return error instanceof AuthorityRefusal && error.code === 'not-inspected';
}

/** Throws a refusal if the authority no longer finds some uploads good; those that it used in this very batch are as good as before. */
function checkGood({ ctx }: ShotBatch, shots: readonly StoredShot[], verdicts: readonly Verdict[]): void {
  const slotOf = ({ upload }: Verdict): number => shots.findIndex(({ name }) => equalBytes(name, upload));
  const others = verdicts.filter(({ verdict, used }) => verdict !== 'good' && !(used && equalBytes(used, ctx)));
  const [first] = others;
  const reason = first?.verdict === 'used' ? 'upload-used' : first?.reason;
  const same = others.filter((one) => one.verdict === first?.verdict && one.reason === first.reason).map(slotOf);
  if (same.length > 0) throw new AuthorityRefusal(reason, 'uploads of the batch are no longer valid', same);
}

/** Uploads that more authorities refuse than may lie, each with the reason. */
export function refusedUploads({ refusals }: Voting, { closing, shots }: VotedBatch) {
  return [...refusedSlots(closing.policy, refusals)].flatMap(([slot, { code }]) => {
    const shot = shots[slot];
    return shot === undefined ? [] : [{ name: shot.name, code }];
  });
}
