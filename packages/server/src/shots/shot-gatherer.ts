/**
 * Gathers whole uploads into batches, each of which is a sum that begins frozen.
 *
 *     waiting --inspected--> good --enough of one version--> in a batch
 *         \--> refused           \--> version over
 */
import { equalBytes, toHex } from '@basa/masking';
import {
  type BasaEvent,
  type ClosingBatch,
  type Ctx,
  epochEnd,
  granted,
  isGranted,
  isRefusalReason,
  loseBatch,
  type OneShotPolicy,
  recordGrant,
  type ServerPorts,
  type ShotBatch,
  type TaskPolicy,
} from '@basa/protocol';
import type { TaskAuthorities } from '../authority/authorities.ts';
import { AuthorityUnreachable } from '../authority/authority-http.ts';
import { bodiesOf } from '../blobs/blob-store.ts';
import type { ModelKeeper } from '../closing/model-keeper.ts';
import { type OpenedSum, type OpeningTools, openShards, UNOPENED } from '../closing/opening.ts';
import type { RefusedShot } from '../store/shots.ts';
import type { Fence } from '../store/sql.ts';
import { isAsKept } from '../uploads/body.ts';
import { type Coming, isStalled } from './batcher.ts';
import type { BatchKeeper } from './batches.ts';
import { epochsOf, type Inspector, type ShownTools, shownUploads } from './inspector.ts';
import { shotKey } from './intake.ts';
import { askForVotes, BatchLost, MaskSums, refusedUploads, type VotedBatch, type Voting } from './votes.ts';

/** Of a sum with a body that is no longer the one that was accepted. Its devices did nothing wrong. */
const CHANGED = 'a stored body was changed after it was accepted';

export interface ShotGathererOptions extends OpeningTools, ShownTools {
  readonly models: ModelKeeper;
  readonly policy: TaskPolicy & { readonly oneShot: OneShotPolicy };
  readonly batches: BatchKeeper;
  readonly authorities: TaskAuthorities;
  readonly ports: ServerPorts;
  readonly inspector: Inspector;
  readonly coming: Coming;
  readonly stallMs: number | undefined;
  onEvent(event: BasaEvent): void;
}

export class ShotGatherer {
  readonly #options: ShotGathererOptions;
  readonly keeper: BatchKeeper;

  constructor(options: ShotGathererOptions) {
    this.#options = options;
    this.keeper = options.batches;
  }

  /** Has the authorities vote for it, records that, and opens the sum. */
  async open(sum: ShotBatch, fence: Fence | undefined): Promise<OpenedSum> {
    const { ctx, rules } = sum;
    const voted = await this.#voted(sum);
    const votes = isGranted(sum) ? sum.votes : await this.#close(voted, fence);
    const { blobs, policy, watch } = this.#options;
    const keys = voted.shots.map(({ name, upload }) => shotKey(policy, name, upload));
    for (const [n, { bodyHash }] of voted.shots.entries())
      if (!(await isAsKept(blobs, keys[n] as string, bodyHash))) return { kind: 'quarantine', why: CHANGED };
    try {
      const subtracted = await watch.traces.step('close', { ctx }, () => this.#masks(voted, votes));
      return await openShards(this.#options, { ctx, rules, keys, subtracted });
    } catch (error) {
      // It is final, so a version can leave it out: without one, its devices could give nothing more on the old version.
      if (error instanceof BatchLost) return { kind: 'quarantine', why: UNOPENED };
      throw error;
    }
  }

  async #masks(voted: VotedBatch, votes: ShotBatch['votes']): Promise<readonly string[]> {
    const epochs = await epochsOf(this.#options, voted.shots);
    const uploads = await shownUploads(this.#options, voted.shots);
    return new MaskSums(this.#options, voted, { batch: voted.sum.batch, epochs, uploads }).collect(votes);
  }

  async #voted(sum: ShotBatch): Promise<VotedBatch> {
    const { store, ports, policy } = this.#options;
    const { ctx, task } = sum;
    const shots = await store.batchShots(ctx);
    const headers = shots.map(({ upload }) => upload.header);
    const closing: ClosingBatch = { suite: ports.suite, task, policy, ctx, headers };
    return { sum, closing, shots };
  }

  /** Returns the durable votes. */
  async #close(voted: VotedBatch, fence: Fence | undefined): Promise<ShotBatch['votes']> {
    const { ctx } = voted.sum;
    const { policy, watch } = this.#options;
    const voting = await watch.traces.step('close', { ctx }, () => askForVotes(this.#options, voted));
    const { votes } = voting;
    if (votes.length < policy.threshold) return this.#hesitate(voted, voting, fence);
    granted(await this.keeper.step(ctx, (found) => recordGrant(found, voting), { fence }));
    return votes;
  }

  /** Too few votes. A batch that any authority voted for keeps its list; otherwise its good uploads may go into another one. */
  async #hesitate(voted: VotedBatch, voting: Voting, fence: Fence | undefined): Promise<never> {
    const { policy } = this.#options;
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
    const { blobs } = this.#options;
    await this.#lose(sum.ctx, 'aborted', fence, bad);
    const names = new Set(bad.map(({ name }) => toHex(name)));
    const gone = shots.filter(({ name }) => names.has(toHex(name)));
    await blobs.removeBelow(...gone.map(({ name }) => bodiesOf(name)));
  }

  async #lose(
    ctx: Ctx,
    how: 'aborted' | 'unknown',
    fence: Fence | undefined,
    bad?: readonly RefusedShot[],
  ): Promise<void> {
    const more = bad === undefined ? {} : { freed: bad };
    await this.keeper.step(ctx, (batch) => loseBatch(batch, how), { more, fence });
  }

  /** True if the last epoch that its uploads name is given up. */
  async #isTooLate({ shots }: VotedBatch): Promise<boolean> {
    const { epochs, policy, store } = this.#options;
    const statements = shots.flatMap(({ upload }) => upload.header.epochs.map(({ statement }) => statement));
    const known = await epochs.named(statements);
    const named = [...new Set(statements.map(toHex))].flatMap((statement) => known.get(statement) ?? []);
    return (await store.now()) >= Math.max(0, ...named.map((epoch) => epochEnd(policy.oneShot, epoch)));
  }

  /** Authorities refuse: if the batch is lost, this is recorded. */
  async lost(sum: ShotBatch, fence: Fence | undefined): Promise<void> {
    if (await this.#isTooLate(await this.#voted(sum))) await this.#lose(sum.ctx, 'unknown', fence);
  }

  countsOf({ users }: ShotBatch): { readonly accepted: number; readonly dropped: number } {
    return { accepted: users.length, dropped: 0 };
  }

  /** Exact, because all its updates are on one version. */
  ageAt({ rules }: ShotBatch, now: number): number {
    return Math.max(0, now - rules.version);
  }

  /** By the rule that closes a small batch, and at the latest when the time of a step has passed. */
  async isLast({ firstAt, lastAt }: { readonly firstAt: number; readonly lastAt: number }): Promise<boolean> {
    const { store, task, policy, models, coming, stallMs = Number.POSITIVE_INFINITY } = this.#options;
    const now = await store.now();
    if (now - firstAt >= policy.oneShot.stepWindowMs) return true;
    const waiting = await store.shotGroups(task);
    const hasOthers = this.keeper.living.some((sum) => equalBytes(sum.task, task) && sum.status !== 'opened');
    const idleMs = now - Math.max(lastAt, ...waiting.map((group) => group.lastAt));
    const quietMs = coming.quietMs(models.newest?.version ?? 0);
    return isStalled({ quietMs, idleMs, stallMs, isAwaited: hasOthers || waiting.length > 0 });
  }

  /** It has ended: data that was stored only for it is not needed any more. */
  async ended({ ctx, status, batch }: ShotBatch): Promise<void> {
    const { blobs } = this.#options;
    await blobs.removeBelow(bodiesOf(ctx));
    if (status === 'aborted') return; // its uploads wait again
    await blobs.removeBelow(...batch.uploads.map(bodiesOf));
  }
}
