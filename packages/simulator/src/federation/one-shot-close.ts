/** A batch at the server of a one-shot federation: votes, sums of masks, the opened sum and the next version of the model. */
import { addInPlace, equalBytes, subtractInPlace, unpackVector } from '@basa/masking';
import { type Ctx, isRefused, type Refused, refused } from '@basa/protocol';
import { Batching, ServerRole, Sums } from '@basa/protocol/one-shot';
import { OneShotRules, type Part } from '@basa/protocol/policy';
import {
  type Batch,
  BatchVoteRequest,
  batchCtxOf,
  Councils,
  InputWords,
  InspectRequest,
  ReleaseRequest,
  type WantedSum,
} from '@basa/protocol/wire';
import type { ShotAuthority } from './one-shot-authority.ts';
import { headersOf, inspectRequest, releaseRequest, voteRequest } from './one-shot-requests.ts';
import { newBatch, type StoredBatch, type StoredShot } from './one-shot-store.ts';
import { makeVersion } from './one-shot-version.ts';
import { type ClosingStore, present, shotsOf } from './one-shot-world.ts';

export function closeBatch(server: ClosingStore, ctx: Ctx): Sums.SumVerdict | Refused {
  const voted = gatherVotes(server, server.batch(ctx));
  if (isRefused(voted)) return voted;
  const summed = gatherSums(server, voted);
  if (isRefused(summed)) return summed;
  return applied(server, summed, opened(server, summed));
}

function closingOf(server: ClosingStore, { ctx, batch }: StoredBatch): ServerRole.ClosingBatch {
  const { suite, task, policy } = server.view;
  return { suite, task, policy, ctx, headers: headersOf(shotsOf(server, batch)) };
}

/** Asks all authorities. */
function gatherVotes(server: ClosingStore, start: StoredBatch): StoredBatch | Refused {
  const { threshold } = server.world.policy;
  let stored = start;
  const refusals = new Map<ShotAuthority, Refused>();
  for (const keeper of stored.votes.length < threshold ? present(server) : []) {
    const answer = voteOf(server, keeper, stored);
    if (isRefused(answer)) refusals.set(keeper, answer);
    else stored = server.keepBatch({ ...stored, votes: Councils.joined([...stored.votes, ...answer.endorsements]) });
  }
  if (stored.votes.length >= threshold) return stored;
  if (stored.votes.length === 0) dissolve(server, stored, [...refusals.values()]);
  return [...refusals.values()].at(-1) ?? refused('too-few-votes');
}

/** No authority voted for it: it ends without those uploads that enough authorities refuse, and the others may go into another batch. */
function dissolve(server: ClosingStore, stored: StoredBatch, refusals: readonly Refused[]): void {
  const bad = [...Batching.refusedPositions(server.world.policy, refusals)];
  if (bad.length === 0) return;
  const shots = shotsOf(server, stored.batch);
  for (const [position, { reason }] of bad) server.keep({ ...(shots[position] as StoredShot), verdict: reason });
  server.keepBatch({ ...stored, end: 'aborted' });
}

/** An authority that restarted since then gets the uploads to inspect again. */
function voteOf(
  server: ClosingStore,
  keeper: ShotAuthority,
  stored: StoredBatch,
): { readonly endorsements: StoredBatch['votes'] } | Refused {
  const bytes = BatchVoteRequest.encode(voteRequest(server, stored.batch));
  const ask = () => server.world.call('vote', () => keeper.vote(bytes));
  let answer = ask();
  if (isRefused(answer) && answer.reason === 'not-inspected') {
    const shots = shotsOf(server, stored.batch);
    server.world.call('inspect', () => keeper.inspect(InspectRequest.encode(inspectRequest(server, shots))));
    answer = ask();
  }
  return isRefused(answer)
    ? answer
    : { endorsements: ServerRole.batchVote(closingOf(server, stored), keeper.base.index, answer) };
}

/** Plans again without the authorities that failed, until every part has a sum on which enough holders agree. */
function gatherSums(server: ClosingStore, start: StoredBatch): StoredBatch | Refused {
  const { policy } = server.world;
  const closing = closingOf(server, start);
  const failed = new Set(policy.authorities.map((_, n) => n).filter((n) => server.world.isAway(n)));
  let no: Refused | undefined;
  for (;;) {
    const plan = ServerRole.sumPlan(closing, start.ctx[0] ?? 0, [...failed]);
    if (plan === undefined) return no ?? refused('too-few-votes', { detail: 'too few authorities sum masks' });
    const before = failed.size;
    const signed: ServerRole.MaskSumOf[] = [];
    const vectors = new Map<Part, { readonly authority: number; readonly packed: Uint8Array }>();
    for (const { authority, wanted } of plan) {
      const answer = askSums(server, start, authority, wanted);
      if (isRefused(answer)) {
        no = answer;
        failed.add(authority);
        continue;
      }
      signed.push(...answer.sums.map((sum) => ({ authority, sum })));
      for (const [part, packed] of answer.vectors) vectors.set(part, { authority, packed });
    }
    const sums = new Map<Part, Uint8Array>();
    for (const part of OneShotRules.taskParts(policy)) {
      const hash = ServerRole.agreedSum(closing, part, signed);
      const found = vectors.get(part);
      if (hash !== undefined && found !== undefined && equalBytes(closing.suite.sha256(found.packed), hash))
        sums.set(part, found.packed);
      else if (found !== undefined && failed.size === before) failed.add(found.authority);
    }
    if (sums.size === OneShotRules.taskParts(policy).length) return server.keepBatch({ ...start, sums });
    if (failed.size === before) return no ?? refused('too-few-votes', { detail: 'the sums of masks do not agree' });
  }
}

function askSums(server: ClosingStore, stored: StoredBatch, authority: number, wanted: readonly WantedSum[]) {
  const { batch, votes } = stored;
  const bytes = ReleaseRequest.encode(releaseRequest(server, batch, { votes, wanted }));
  const keeper = server.world.keepers[authority] as ShotAuthority;
  const released = server.world.call('release', () => keeper.release(bytes));
  if (isRefused(released)) return released;
  const parts = wanted.filter(({ vector }) => vector).map(({ part }) => part);
  return {
    sums: released.answer.sums,
    vectors: new Map(parts.map((part, n) => [part, released.vectors[n] as Uint8Array])),
  };
}

/** Returns the sum of the inputs of a batch with these votes. */
export function sumOfBatch(server: ClosingStore, batch: Batch, votes: StoredBatch['votes']): Uint32Array | Refused {
  const summed = gatherSums(server, { ...newBatch(batchCtxOf(server.view.suite, batch), batch), votes });
  return isRefused(summed) ? summed : unmasked(server, summed);
}

function opened(server: ClosingStore, stored: StoredBatch): Sums.SumVerdict {
  const [first] = headersOf(shotsOf(server, stored.batch));
  const rules = InputWords.sumRules(server.world.policy, (first && server.view.versionOf(first.model)) ?? 0);
  return Sums.judgeSum(rules, unmasked(server, stored), stored.batch.uploads.length);
}

/** Subtracts all M_A from the sum of y. */
function unmasked(server: ClosingStore, { batch, sums }: StoredBatch): Uint32Array {
  const { policy, environment } = server.world;
  const { kernel } = environment.tools;
  const [first, ...rest] = shotsOf(server, batch).map((shot) => server.vector(shot));
  if (first === undefined) throw new Error('an empty batch');
  for (const vector of rest) addInPlace(first, vector, policy.modulus, kernel);
  for (const packed of sums.values()) {
    const unpacked = unpackVector(packed, first.length, policy.modulus);
    if (unpacked.kind === 'malformed') throw new Error(unpacked.problem);
    subtractInPlace(first, unpacked.vector, policy.modulus, kernel);
  }
  return first;
}

/** Makes the opened sum durable; it makes a version with the others that wait. A repeated call gives the same verdict. */
function applied(server: ClosingStore, stored: StoredBatch, verdict: Sums.SumVerdict): Sums.SumVerdict {
  if (stored.opened === undefined) {
    const isSpoilt = verdict.kind === 'quarantine';
    server.keepBatch({ ...stored, opened: isSpoilt ? 'spoilt' : 'good', ...(isSpoilt && { end: 'quarantined' }) });
  }
  makeVersion(server, false);
  return verdict;
}
