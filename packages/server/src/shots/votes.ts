/** What the authorities contribute to a batch: their votes, and the sums of its masks. */

import { createHash } from 'node:crypto';
import { equalBytes } from '@basa/masking';
import type { ProblemCode } from '@basa/protocol/http';
import { Batching, ServerRole, type Sums } from '@basa/protocol/one-shot';
import { OneShotRules, type Part } from '@basa/protocol/policy';
import {
  Councils,
  type Endorsement,
  type MaskSum,
  type ReleaseRequest,
  shotLayout,
  type Verdict,
  type Vote,
  type WantedSum,
} from '@basa/protocol/wire';
import { nodeRandomBytes } from '@basa/runtime/node';
import { AuthorityRefusal, AuthorityUnreachable } from '../authority/authority-http.ts';
import type { AuthorityLink } from '../authority/authority-link.ts';
import { gather, type Member } from '../authority/gather.ts';
import { type BlobStore, bodiesOf, type Staging } from '../blobs/blob-store.ts';
import type { StoredShot } from '../store/shots.ts';
import { type ShotContext, showAgain } from './inspector.ts';

/** A batch that is being closed, with the headers of its uploads. */
export interface VotedBatch {
  readonly sum: Sums.ShotBatch;
  readonly closing: ServerRole.ClosingBatch;
  readonly shots: readonly StoredShot[];
}

interface RefusedVote {
  readonly code: ProblemCode | undefined;
  readonly uploads: readonly number[];
}

export interface Voting {
  readonly votes: readonly Endorsement[];
  readonly refusals: readonly RefusedVote[];
}

/** Asks those whose votes are missing. */
export async function askForVotes(context: ShotContext, voted: VotedBatch): Promise<Voting> {
  const known = voted.sum.votes;
  const refusals: RefusedVote[] = [];
  const votes = [...known];
  const ask = async (member: Member): Promise<void> => {
    const vote = await voteOf(context, voted, member).catch((error: unknown) => {
      // An authority that restarted in the meantime has forgotten them again. This does not count against the uploads.
      if (error instanceof AuthorityRefusal && !isForgotten(error)) refusals.push(error);
      throw error;
    });
    const own = ServerRole.batchVote(voted.closing, member.authority, vote);
    if (own.length === 0) throw new AuthorityUnreachable('it did not vote for the batch');
    votes.push(...own);
  };
  const missing = context.authorities.filter(({ authority }) => !known.some((vote) => vote.authority === authority));
  const needed = Math.max(1, context.policy.threshold - known.length);
  await gather(missing, Math.min(needed, missing.length), ask).catch(() => undefined); // the results are in `votes` and `refusals`
  return { votes: Councils.joined(votes), refusals };
}

/** An authority that restarted no longer knows the uploads that it inspected, so it gets them again. */
async function voteOf(context: ShotContext, { sum, shots }: VotedBatch, { link }: Member): Promise<Vote> {
  const request = { batch: sum.batch };
  try {
    return await link.voteForBatch(request);
  } catch (error) {
    if (!isForgotten(error)) throw error;
    const unseen = error.uploads.flatMap((position) => shots[position] ?? []);
    checkGood(sum, shots, await showAgain(context, link, unseen.length > 0 ? unseen : shots));
    return link.voteForBatch(request);
  }
}

function isForgotten(error: unknown): error is AuthorityRefusal {
  return error instanceof AuthorityRefusal && error.code === 'not-inspected';
}

/** Throws a refusal if the authority no longer finds some uploads good; those that it used in this very batch are as good as before. */
function checkGood({ ctx }: Sums.ShotBatch, shots: readonly StoredShot[], verdicts: readonly Verdict[]): void {
  const positionOf = ({ upload }: Verdict): number => shots.findIndex(({ name }) => equalBytes(name, upload));
  const others = verdicts.filter(({ verdict, used }) => verdict !== 'good' && !(used && equalBytes(used, ctx)));
  const [first] = others;
  const reason = first?.verdict === 'used' ? 'upload-used' : first?.reason;
  const same = others.filter((one) => one.verdict === first?.verdict && one.reason === first.reason).map(positionOf);
  if (same.length > 0) throw new AuthorityRefusal(reason, 'uploads of the batch are no longer valid', same);
}

/** Uploads that more authorities refuse than may lie, each with the reason. */
export function refusedUploads({ refusals }: Voting, { closing, shots }: VotedBatch) {
  return [...Batching.refusedPositions(closing.policy, refusals)].flatMap(([position, { code }]) => {
    const shot = shots[position];
    return shot === undefined ? [] : [{ name: shot.name, code }];
  });
}

/** The part that every authority is shown. */
export type Shown = Pick<ReleaseRequest, 'batch' | 'epochs' | 'uploads'>;

/** Too many authorities have given up the epochs of the batch: it can never be opened. */
export class BatchLost extends Error {
  constructor() {
    super('too few authorities can still sum the masks of the batch');
    this.name = 'BatchLost';
  }
}

interface StoredVector extends ServerRole.MaskSumOf {
  readonly key: string;
}

/** The time that an authority may take for the masks of one update, and for each of its elements. */
const UPDATE_MS = 1;
const ELEMENT_MS = 4e-6;

/**
 * Collects the sums of masks of a batch: the vector of each part from one of its holders, and as many equal hashes as
 * must vouch for it. A holder that is silent or signed another hash is left out, and another holder is asked.
 * Another hash is reported.
 */
export class MaskSums {
  readonly #context: ShotContext;
  readonly #batch: VotedBatch;
  readonly #shown: Shown;
  readonly #sums: ServerRole.MaskSumOf[] = [];
  readonly #vectors: StoredVector[] = [];
  /** The authorities that are not asked any more, and those of them that can never answer. */
  readonly #without = new Set<number>();
  readonly #gone = new Set<number>();
  readonly #reported = new Set<number>();

  constructor(context: ShotContext, batch: VotedBatch, shown: Shown) {
    this.#context = context;
    this.#batch = batch;
    this.#shown = shown;
  }

  /** Returns the blobs that are subtracted, one per part. */
  async collect(votes: readonly Endorsement[]): Promise<readonly string[]> {
    const { policy } = this.#batch.closing;
    const rounds = 2 * policy.authorities.length;
    for (let round = 0; round < rounds; round++) {
      const open = OneShotRules.taskParts(policy).filter((part) => this.#good(part) === undefined);
      if (open.length === 0) break;
      await this.#round(votes, open, round);
    }
    return OneShotRules.taskParts(policy).map((part) => {
      const good = this.#good(part);
      if (good === undefined) throw new AuthorityUnreachable('the authorities do not agree on a sum of masks');
      return good.key;
    });
  }

  async #round(votes: readonly Endorsement[], open: readonly Part[], round: number): Promise<void> {
    // Holders take turns: if they signed different hashes, the next rounds ask others.
    await Promise.all(this.#plan(round).map((one) => this.#ask(votes, { ...one, wanted: this.#missing(one, open) })));
    for (const part of open) this.#leaveOutLiars(part);
  }

  #plan(round: number): readonly ServerRole.AskedSums[] {
    const { closing, sum } = this.#batch;
    const turn = (sum.ctx[0] ?? 0) + round;
    const plan = ServerRole.sumPlan(closing, turn, [...this.#without]);
    if (plan !== undefined) return plan;
    if (ServerRole.sumPlan(closing, turn, [...this.#gone]) === undefined) throw new BatchLost();
    throw new AuthorityUnreachable('too few authorities sum the masks of a batch');
  }

  /** Leaves out sums that are known already. */
  #missing({ authority, wanted }: ServerRole.AskedSums, open: readonly Part[]): readonly WantedSum[] {
    const isKnown = ({ part, vector }: WantedSum): boolean =>
      [...(vector ? this.#vectors : this.#sums)].some((one) => one.authority === authority && one.sum.part === part);
    return wanted.filter((one) => open.includes(one.part) && !isKnown(one));
  }

  async #ask(votes: readonly Endorsement[], { authority, wanted }: ServerRole.AskedSums): Promise<void> {
    if (wanted.length === 0) return;
    const link = this.#context.authorities.find((member) => member.authority === authority)?.link;
    try {
      if (link === undefined) throw new AuthorityUnreachable('this server does not have its address');
      await this.#release(link, { authority, wanted }, votes);
    } catch (error) {
      this.#without.add(authority);
      if (error instanceof AuthorityRefusal && error.code === 'epoch-over') this.#gone.add(authority);
    }
  }

  async #release(
    link: AuthorityLink,
    { authority, wanted }: ServerRole.AskedSums,
    votes: readonly Endorsement[],
  ): Promise<void> {
    const { policy, headers } = this.#batch.closing;
    const { vectorBytes } = shotLayout(policy, headers[0]?.epochs ?? []);
    const extraMs = headers.length * wanted.length * (UPDATE_MS + ELEMENT_MS * policy.dimension);
    const vectors = wanted.filter(({ vector }) => vector);
    const sink = new VectorSink(
      this.#context.blobs,
      vectors.map(({ part }) => this.#keyOf(authority, part)),
    );
    let sums: readonly MaskSum[] = [];
    try {
      const take = {
        answer: async (answer: { readonly sums: readonly MaskSum[] }) => {
          sums = this.#checked(authority, wanted, answer.sums);
          return vectors.length;
        },
        piece: (n: number, bytes: Uint8Array) => sink.add(n, bytes),
      };
      await link.release({ ...this.#shown, votes, wanted }, take, { vectorBytes, extraMs });
      const signed = vectors.map(({ part }) => sums.find((sum) => sum.part === part) as MaskSum);
      const keys = await sink.commit(signed.map(({ hash }) => hash));
      this.#sums.push(...sums.map((sum) => ({ authority, sum })));
      this.#vectors.push(...signed.map((sum, n) => ({ authority, sum, key: keys[n] as string })));
    } finally {
      await sink.close();
    }
  }

  /** Checks that these are the requested sums, each signed by it. */
  #checked(authority: number, wanted: readonly WantedSum[], sums: readonly MaskSum[]): readonly MaskSum[] {
    const isAsked =
      sums.length === wanted.length &&
      sums.every(
        (sum, n) => sum.part === wanted[n]?.part && ServerRole.isMaskSumOf(this.#batch.closing, { authority, sum }),
      );
    if (!isAsked) throw new AuthorityUnreachable('its sums of masks are not the requested ones');
    return sums;
  }

  #keyOf(authority: number, part: Part): string {
    return `${bodiesOf(this.#batch.closing.ctx)}/masks-${part}-${authority}`;
  }

  #of(part: Part): readonly ServerRole.MaskSumOf[] {
    return this.#sums.filter(({ sum }) => sum.part === part);
  }

  #agreed(part: Part): Uint8Array | undefined {
    return ServerRole.agreedSum(this.#batch.closing, part, this.#sums);
  }

  /** Returns the vector of the part that enough holders vouch for. */
  #good(part: Part): StoredVector | undefined {
    const agreed = this.#agreed(part);
    return this.#vectors.find(({ sum }) => agreed !== undefined && sum.part === part && equalBytes(sum.hash, agreed));
  }

  #leaveOutLiars(part: Part): void {
    const agreed = this.#agreed(part);
    if (agreed === undefined) return;
    const liars = this.#of(part).filter(({ sum }) => !equalBytes(sum.hash, agreed));
    for (const { authority } of liars) {
      this.#without.add(authority);
      if (this.#reported.has(authority)) continue;
      this.#reported.add(authority);
      const { task } = this.#batch.closing;
      this.#context.onEvent({ kind: 'authority-fault', task, authority, subject: 'mask-sum' });
    }
  }
}

/** Vectors that are being written into blobs, each hashed as it arrives. */
class VectorSink {
  readonly #blobs: BlobStore;
  readonly #keys: readonly string[];
  readonly #attempt = Buffer.from(nodeRandomBytes(8)).toString('hex');
  readonly #stagings: Staging[] = [];
  readonly #hashes: ReturnType<typeof createHash>[] = [];
  #isCommitted = false;

  constructor(blobs: BlobStore, keys: readonly string[]) {
    this.#blobs = blobs;
    this.#keys = keys;
  }

  async add(n: number, bytes: Uint8Array): Promise<void> {
    this.#stagings[n] ??= await this.#blobs.stage(this.#keys[n] as string, this.#attempt);
    this.#hashes[n] ??= createHash('sha256');
    this.#hashes[n]?.update(bytes);
    await this.#stagings[n]?.append(bytes);
  }

  /** Throws if one of them has another hash than the signed one. */
  async commit(hashes: readonly Uint8Array[]): Promise<readonly string[]> {
    for (const [n, hash] of hashes.entries())
      if (!equalBytes(this.#hashes[n]?.digest() ?? new Uint8Array(), hash))
        throw new AuthorityUnreachable('a sum of masks has another hash than the one it signed');
    for (const staging of this.#stagings) await staging.commit();
    this.#isCommitted = true;
    return this.#keys;
  }

  async close(): Promise<void> {
    if (this.#isCommitted) for (const staging of this.#stagings) await staging.close();
    else for (const staging of this.#stagings) await staging.discard();
  }
}
