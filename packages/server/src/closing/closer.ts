/**
 * Brings sums to their end, whatever stopped it before: each look takes one as far as it goes.
 *
 *     gathered --> frozen --authorities--> granted --sum--> model --log--> included
 *                                             \-- guard words --> model, log, quarantined
 */
import { toHex } from '@basa/masking';
import {
  type Ctx,
  type ModelEntry,
  type Refused,
  recordIncluded,
  recordQuarantine,
  type SumState,
  type UserId,
} from '@basa/protocol';
import { AuthorityRefusal, AuthorityUnreachable } from '../authority/authority-link.ts';
import { Backoff } from '../authority/backoff.ts';
import { isEnded } from '../store/buffers.ts';
import type { Fence } from '../store/leases.ts';
import type { StoredModel } from '../store/models.ts';
import type { Verdict } from '../store/suspicions.ts';
import type { ServerWatch } from '../watch/server-watch.ts';
import type { Gatherer } from './gatherer.ts';
import type { ModelKeeper } from './model-keeper.ts';
import { SumRefused } from './opening.ts';
import type { Quarantined } from './work/tasks.ts';

export interface CloserOptions<Sum extends SumState> {
  readonly gatherer: Gatherer<Sum>;
  readonly models: ModelKeeper;
  readonly watch: ServerWatch;
  /** This node's. */
  readonly clock: () => number;
  onIncluded(): Promise<void>;
  /** Authorities that are needed for its end do not answer. */
  onUnanswered(sum: Sum): void;
  /** It has ended, and nothing of it is needed any more. */
  onEnded(ctx: Ctx): void;
}

export class Closer<Sum extends SumState> {
  readonly #options: CloserOptions<Sum>;
  /** Of sums that could not be ended. */
  readonly #backoff: Backoff;

  constructor(options: CloserOptions<Sum>) {
    this.#options = options;
    this.#backoff = new Backoff(options.clock);
  }

  /** Those with something to do, by the copies that are kept of them. */
  async due(names: readonly Ctx[], now: number): Promise<readonly Ctx[]> {
    const { keeper } = this.#options.gatherer;
    const found = await Promise.all(names.map((ctx) => keeper.find(ctx)));
    return found.flatMap((sum) => (sum !== undefined && this.#isDue(sum, now) ? [sum.ctx] : []));
  }

  #isDue(sum: Sum, now: number): boolean {
    if (!this.#backoff.isDue(toHex(sum.ctx))) return false;
    return sum.status !== 'filling' || this.#options.gatherer.isDue(sum, now);
  }

  /**
   * Takes the sum as far as it goes now, under this lease where there are several nodes. One call at a time for each task:
   * versions follow each other.
   */
  async attend(ctx: Ctx, fence: Fence | undefined): Promise<void> {
    try {
      await this.#attend(ctx, fence);
    } catch (error) {
      this.#backoff.failed(toHex(ctx));
      throw error;
    }
  }

  async #attend(ctx: Ctx, fence: Fence | undefined): Promise<void> {
    const begun = await this.#found(ctx);
    const isFilling = begun.status === 'filling';
    if (isFilling && !(await this.#options.gatherer.gather(begun, fence))) this.#backoff.failed(toHex(ctx));
    const sum = await this.#found(ctx);
    if (sum.status === 'frozen' || sum.status === 'granted') await this.#finish(sum, fence);
    await this.#tidy(ctx);
  }

  async #finish(sum: Sum, fence: Fence | undefined): Promise<void> {
    const { models, gatherer, onUnanswered } = this.#options;
    const { ctx } = sum;
    try {
      if (await models.isHeldUpBy(ctx)) return;
      const known = await models.of(ctx);
      // A version without updates stands for a spoilt sum: the sum is opened again to say why.
      const made = known === undefined || known.accepted === 0 ? await this.#makeModel(sum, fence) : known;
      if (made !== undefined) await this.#include(ctx, made, fence);
    } catch (error) {
      if (error instanceof AuthorityUnreachable) onUnanswered(await this.#found(ctx));
      // The authority knows better: it gave the sum up, or lost its memory of it.
      if (error instanceof AuthorityRefusal) await gatherer.lost(await this.#found(ctx), fence);
      throw error;
    }
  }

  async #makeModel(sum: Sum, fence: Fence | undefined): Promise<StoredModel | undefined> {
    const { models, watch, gatherer } = this.#options;
    const { ctx } = sum;
    const opened = await gatherer.open(sum, fence);
    if (opened.kind === 'quarantine') return this.#quarantine(sum, opened, fence);
    try {
      const { shards, prefix } = opened;
      const counts = gatherer.countsOf(sum);
      const told = { ageAt: (now: number) => gatherer.ageAt(sum, prefix, now), ...prefix };
      return await watch.traces.step('model-step', { ctx }, () =>
        models.make(ctx, shards, { counts, fence, sum: told }),
      );
    } catch (error) {
      if (error instanceof SumRefused) return this.#quarantine(sum, error.quarantined, fence);
      throw error;
    }
  }

  /** Counted against those who cheated, where they are known, and against nobody else: one liar would lock out the others. */
  async #quarantine(sum: Sum, { why, slots }: Quarantined, fence: Fence | undefined): Promise<undefined> {
    const { gatherer, models, onIncluded } = this.#options;
    const { ctx, rules } = sum;
    const users = gatherer.usersAt(sum, slots);
    // Every close is a version, here with the same parameters: the devices of the sum could give nothing more on the old one.
    const logged = rules.versions === 'one' ? await this.#loggedSpoilt(ctx, fence) : undefined;
    const step = (found: Sum) => recordQuarantine(found, why, slots);
    const more = (before: Sum, _: Sum, now: number) => ({
      burnt: { at: now, users },
      verdict: verdictOf(before, 'spoilt', users),
      ...(logged !== undefined && { logged }),
    });
    granted(await gatherer.keeper.step(ctx, step, { more, fence }));
    if (logged === undefined) return;
    await models.refresh();
    await onIncluded();
  }

  async #loggedSpoilt(ctx: Ctx, fence: Fence | undefined): Promise<ModelEntry> {
    const { models, gatherer } = this.#options;
    const { accepted, dropped } = gatherer.countsOf(await this.#found(ctx));
    return this.#logged(ctx, (await models.of(ctx)) ?? (await models.repeat(ctx, accepted + dropped, fence)));
  }

  /** The entry of a version, logged now if it is not yet. */
  async #logged(ctx: Ctx, made: StoredModel): Promise<ModelEntry> {
    const { models, gatherer, watch } = this.#options;
    const votes = gatherer.votesFor(await this.#found(ctx));
    return made.entry ?? (await watch.traces.step('log', { ctx }, () => models.log(made, votes)));
  }

  /** "Included" and the logged model are written together. */
  async #include(ctx: Ctx, made: StoredModel, fence: Fence | undefined): Promise<void> {
    const { gatherer, models, onIncluded } = this.#options;
    const logged = await this.#logged(ctx, made);
    const step = (sum: Sum) => recordIncluded(sum, made.version);
    const more = (before: Sum) => ({ logged, verdict: verdictOf(before, 'clean') });
    granted(await gatherer.keeper.step(ctx, step, { more, fence }));
    await models.refresh();
    await onIncluded();
  }

  async #tidy(ctx: Ctx): Promise<void> {
    const { gatherer, onEnded } = this.#options;
    const sum = await this.#found(ctx);
    if (!isEnded(sum.status)) return;
    this.#backoff.over(toHex(ctx));
    await gatherer.ended(sum);
    onEnded(ctx);
  }

  async #found(ctx: Ctx): Promise<Sum> {
    const sum = await this.#options.gatherer.keeper.find(ctx);
    if (sum === undefined) throw new Error(`the sum ${toHex(ctx)} is not in the store`);
    return sum;
  }
}

/** What the sum says of those in it. */
function verdictOf(
  { task, rules, users }: SumState,
  outcome: Verdict['outcome'],
  named: readonly UserId[] = [],
): Verdict {
  return { task, minimum: rules.minimum, users, outcome, named };
}

/** What our own steps never refuse. */
export function granted<Answer extends object>(answer: Answer | Refused): Answer {
  if ('kind' in answer && answer.kind === 'refused')
    throw new Error(`a step was refused: ${(answer as Refused).reason}`);
  return answer as Answer;
}
