/** Opens batches: has the authorities vote, collects the sums of masks, and gives a batch up if it can never be opened. */
import { toHex } from '@basa/masking';
import { type Ctx, granted, isRefusalReason } from '@basa/protocol';
import { type ServerRole, Sums } from '@basa/protocol/one-shot';
import { epochEnd } from '@basa/protocol/wire';
import { AuthorityUnreachable } from '../authority/authority-http.ts';
import { bodiesOf } from '../blobs/blob-store.ts';
import { type OpenedSum, openShards, UNOPENED } from '../closing/opening.ts';
import type { RefusedShot } from '../store/shots.ts';
import type { Fence } from '../store/sql.ts';
import { isAsKept, shotKey } from '../uploads/body.ts';
import { epochsOf, type ShotContext, shownUploads } from './inspector.ts';
import { askForVotes, BatchLost, MaskSums, refusedUploads, type VotedBatch, type Voting } from './votes.ts';

/** Of a sum with a body that is no longer the one that was accepted. Its devices did nothing wrong. */
const CHANGED = 'a stored body was changed after it was accepted';

export class ShotGatherer {
  readonly #context: ShotContext;

  constructor(context: ShotContext) {
    this.#context = context;
  }

  /** Has the authorities vote for it, records that, and opens the sum. */
  async open(sum: Sums.ShotBatch, fence: Fence | undefined): Promise<OpenedSum> {
    const { ctx, rules } = sum;
    const voted = await this.#voted(sum);
    const votes = Sums.isGranted(sum) ? sum.votes : await this.#close(voted, fence);
    const { blobs, policy, watch } = this.#context;
    const keys = voted.shots.map(({ name, upload }) => shotKey(policy, name, upload));
    for (const [n, { bodyHash }] of voted.shots.entries())
      if (!(await isAsKept(blobs, keys[n] as string, bodyHash))) return { kind: 'quarantine', why: CHANGED };
    try {
      const subtracted = await watch.traces.step('close', { ctx }, () => this.#masks(voted, votes));
      return await openShards(this.#context, { ctx, rules, keys, subtracted });
    } catch (error) {
      // It is final, so a version can leave it out: without one, its devices could give nothing more on the old version.
      if (error instanceof BatchLost) return { kind: 'quarantine', why: UNOPENED };
      throw error;
    }
  }

  async #masks(voted: VotedBatch, votes: Sums.ShotBatch['votes']): Promise<readonly string[]> {
    const epochs = await epochsOf(this.#context, voted.shots);
    const uploads = await shownUploads(this.#context, voted.shots);
    return new MaskSums(this.#context, voted, { batch: voted.sum.batch, epochs, uploads }).collect(votes);
  }

  async #voted(sum: Sums.ShotBatch): Promise<VotedBatch> {
    const { store, ports, policy } = this.#context;
    const { ctx, task } = sum;
    const shots = await store.batchShots(ctx);
    const headers = shots.map(({ upload }) => upload.header);
    const closing: ServerRole.ClosingBatch = { suite: ports.suite, task, policy, ctx, headers };
    return { sum, closing, shots };
  }

  /** Returns the durable votes. */
  async #close(voted: VotedBatch, fence: Fence | undefined): Promise<Sums.ShotBatch['votes']> {
    const { ctx } = voted.sum;
    const { policy, watch } = this.#context;
    const voting = await watch.traces.step('close', { ctx }, () => askForVotes(this.#context, voted));
    const { votes } = voting;
    if (votes.length < policy.threshold) return this.#hesitate(voted, voting, fence);
    granted(await this.#context.batches.step(ctx, (found) => Sums.recordGrant(found, voting), { fence }));
    return votes;
  }

  /** Too few votes. A batch that any authority voted for keeps its list; otherwise its good uploads may go into another one. */
  async #hesitate(voted: VotedBatch, voting: Voting, fence: Fence | undefined): Promise<never> {
    const { policy } = this.#context;
    const { votes } = voting;
    if (votes.length === 0) {
      const bad = refusedUploads(voting, voted).map(({ name, code = '' }): RefusedShot => {
        return { name, reason: isRefusalReason(code) ? code : 'batch-invalid' };
      });
      if (bad.length > 0) await this.#dissolve(voted, bad, fence);
    } else if (await this.#isTooLate(voted)) await this.#lose(voted.sum.ctx, 'unknown', fence);
    throw new AuthorityUnreachable(`${votes.length} of ${policy.threshold} voted for a batch`);
  }

  async #dissolve({ sum, shots }: VotedBatch, bad: readonly RefusedShot[], fence: Fence | undefined): Promise<void> {
    const { blobs } = this.#context;
    await this.#lose(sum.ctx, 'aborted', fence, bad);
    const names = new Set(bad.map(({ name }) => toHex(name)));
    const gone = shots.filter(({ name }) => names.has(toHex(name)));
    await blobs.removeBelow(...gone.map(({ name }) => bodiesOf(name)));
  }

  async #lose(
    ctx: Ctx,
    how: 'aborted' | 'unknown',
    fence: Fence | undefined,
    freed?: readonly RefusedShot[],
  ): Promise<void> {
    await this.#context.batches.step(ctx, (batch) => Sums.loseBatch(batch, how), { freed, fence });
  }

  /** True if the last epoch that its uploads name is given up. */
  async #isTooLate({ shots }: VotedBatch): Promise<boolean> {
    const { epochs, policy, store } = this.#context;
    const statements = shots.flatMap(({ upload }) => upload.header.epochs.map(({ statement }) => statement));
    const known = await epochs.named(statements);
    const named = [...new Set(statements.map(toHex))].flatMap((statement) => known.get(statement) ?? []);
    return (await store.now()) >= Math.max(0, ...named.map((epoch) => epochEnd(policy.oneShot, epoch)));
  }

  /** Authorities refuse: if the batch is lost, this is recorded. */
  async lost(sum: Sums.ShotBatch, fence: Fence | undefined): Promise<void> {
    if (await this.#isTooLate(await this.#voted(sum))) await this.#lose(sum.ctx, 'unknown', fence);
  }

  /** It has ended: data that was stored only for it is not needed any more. */
  async ended({ ctx, status, batch }: Sums.ShotBatch): Promise<void> {
    const { blobs } = this.#context;
    await blobs.removeBelow(bodiesOf(ctx));
    if (status === 'aborted') return; // its uploads wait again
    await blobs.removeBelow(...batch.uploads.map(bodiesOf));
  }
}
