/**
 * Brings buffers to their end, whatever stopped it before: each look takes a buffer as far as it goes.
 *
 *     filling --resolved, stalled, expired--> frozen --authority--> granted --sum--> model --log--> included
 *        \-- too few until closeBy, or for good --> aborted            \-- guard words --> model, log, quarantined
 */
import { toHex } from '@basa/masking';
import {
  agreedOutcome,
  type BufferSlot,
  type Ctx,
  freezeBuffer,
  type KeysOf,
  type ModelEntry,
  meanAgeOf,
  millis,
  type OutcomeOf,
  type Refused,
  recordAbort,
  recordGrant,
  recordIncluded,
  recordQuarantine,
  type SecureBuffer,
  type ServerPorts,
  type Slot,
  tickBuffer,
  type UserId,
  votesFor,
} from '@basa/protocol';
import { AuthorityRefusal, AuthorityUnreachable } from '../authority/authority-link.ts';
import { Backoff } from '../authority/backoff.ts';
import type { TaskAuthorities } from '../authority/task-authorities.ts';
import type { BufferKeeper } from '../buffers/buffer-keeper.ts';
import { isEnded } from '../store/buffers.ts';
import type { Fence } from '../store/leases.ts';
import type { StoredModel } from '../store/models.ts';
import type { Verdict } from '../store/suspicions.ts';
import { boundedAge, type VersionRange } from './bounded-age.ts';
import type { ModelKeeper } from './model-keeper.ts';
import { type OpenedSum, type OpeningTools, openSumOf, SumRefused } from './opening.ts';
import { type EndingRules, freezeReason, isToBeGivenUp } from './when-to-end.ts';
import type { Quarantined } from './work/tasks.ts';

export interface CloserOptions extends OpeningTools, EndingRules {
  readonly keeper: BufferKeeper;
  readonly models: ModelKeeper;
  readonly authorities: TaskAuthorities;
  readonly ports: ServerPorts;
  /** This node's. */
  readonly clock: () => number;
  /** What the update of a device may be trained on, as far as this process saw it. */
  versionsOf(ctx: Ctx, user: UserId): VersionRange;
  onIncluded(): Promise<void>;
  /** The lease of the slot is over: what came of its body is not needed. */
  onDropped(ctx: Ctx, slot: Slot): Promise<void>;
  /** Authorities that are needed for its end do not answer. */
  onUnanswered(buffer: SecureBuffer): void;
  /** The buffer has ended: its bodies are not needed any more. */
  onEnded(ctx: Ctx): Promise<void>;
}

export class Closer {
  readonly #options: CloserOptions;
  /** Of buffers that could not be ended. */
  readonly #backoff: Backoff;

  constructor(options: CloserOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.clock);
  }

  /** Whether there is anything to do for the buffer, by the copy that is kept of it. */
  isDue(buffer: SecureBuffer, now: number): boolean {
    if (!this.#backoff.isDue(toHex(buffer.ctx))) return false;
    if (buffer.status !== 'filling') return true;
    const isOverdue = tickBuffer(buffer, millis(now)).records.length > 0;
    const isOver = now >= buffer.descriptor.closeBy || isToBeGivenUp(this.#options, buffer);
    return isOverdue || isOver || freezeReason(this.#options, buffer, now) !== undefined;
  }

  /**
   * Takes the buffer as far as it goes now, under this lease where there are several nodes. One call at a time for each task:
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
    const { keeper, watch } = this.#options;
    const now = await this.#dropOverdue(ctx, fence);
    let buffer = await this.#found(ctx);
    if (buffer.status === 'filling') {
      if (isToBeGivenUp(this.#options, buffer)) return this.#giveUp(ctx, fence);
      const why = freezeReason(this.#options, buffer, now);
      if (why === undefined) return;
      const frozen = await watch.traces.step('freeze', { ctx, attributes: { 'basa.why': why } }, () =>
        keeper.step(ctx, (found, time) => freezeBuffer(found, why, time), { fence }),
      );
      if ('kind' in frozen) return this.#giveUpIfOver(buffer, now, fence);
      buffer = await this.#found(ctx);
    }
    if (buffer.status === 'frozen' || buffer.status === 'granted') await this.#finish(buffer, fence);
    await this.#tidy(ctx);
  }

  /** Returns the time of the step. */
  async #dropOverdue(ctx: Ctx, fence: Fence | undefined): Promise<number> {
    const { keeper, onDropped } = this.#options;
    let dropped: readonly BufferSlot[] = [];
    let at = 0;
    const more = (before: SecureBuffer, after: SecureBuffer, now: number) => {
      dropped = after.slots.filter(({ status }, l) => status === 'dropped' && before.slots[l]?.status !== 'dropped');
      at = now;
      return { burnt: { at: now, users: dropped.map(({ user }) => user) } };
    };
    await keeper.step(ctx, tickBuffer, { more, fence });
    for (const { ticket } of dropped) await onDropped(ctx, ticket.slot);
    return at;
  }

  async #giveUp(ctx: Ctx, fence: Fence | undefined): Promise<void> {
    await this.#recordLoss(ctx, fence, await this.#options.authorities.abort(ctx));
    if (isEnded((await this.#found(ctx)).status)) await this.#tidy(ctx);
    else this.#backoff.failed(toHex(ctx));
  }

  /** Too few updates: nothing to do until the authority aborts the buffer. */
  async #giveUpIfOver({ ctx, descriptor }: SecureBuffer, now: number, fence: Fence | undefined): Promise<void> {
    if (now < descriptor.closeBy) return;
    await this.#recordLoss(ctx, fence);
    this.#backoff.failed(toHex(ctx)); // unless it has ended
    await this.#tidy(ctx);
  }

  async #recordLoss(ctx: Ctx, fence: Fence | undefined, told?: readonly OutcomeOf[]): Promise<void> {
    const { authorities, keeper, models, ports } = this.#options;
    const { descriptor } = await this.#found(ctx);
    const outcomes = told ?? (await authorities.outcomes(ctx));
    const status = agreedOutcome(ports.suite, descriptor, ctx, outcomes)?.status;
    if (status !== 'aborted' && status !== 'unknown') return;
    const made = await models.of(ctx);
    const lost = await keeper.step(ctx, (buffer) => recordAbort(ports, buffer, outcomes), {
      more: { withoutModel: true },
      fence,
    });
    if (lost.kind !== 'refused' && made !== undefined) await models.discard(made);
  }

  async #finish(buffer: SecureBuffer, fence: Fence | undefined): Promise<void> {
    const { models } = this.#options;
    const { ctx } = buffer;
    try {
      if (await models.isHeldUpBy(ctx)) return;
      const known = await models.of(ctx);
      // A version without updates stands for a spoilt sum: the sum is opened again to say why.
      const made = known === undefined || known.accepted === 0 ? await this.#makeModel(buffer, fence) : known;
      if (made !== undefined) await this.#include(ctx, made, fence);
    } catch (error) {
      if (error instanceof AuthorityUnreachable) this.#options.onUnanswered(await this.#found(ctx));
      // The authority knows better: it aborted the buffer, or lost its memory of it.
      if (error instanceof AuthorityRefusal) await this.#recordLoss(ctx, fence);
      throw error;
    }
  }

  /** Asks for votes and keys; asked again, authorities give the same. */
  async #close({ ctx }: SecureBuffer, fence: Fence | undefined, whose: 'enough' | 'all'): Promise<readonly KeysOf[]> {
    const { authorities, keeper, watch } = this.#options;
    const frozen = await this.#found(ctx);
    const grant = granted(await watch.traces.step('close', { ctx }, () => authorities.close(frozen, whose)));
    granted(await keeper.step(ctx, (found) => recordGrant(found, grant), { fence }));
    return grant.answers.map(({ authority, answer }) => ({ authority, keys: answer.keys }));
  }

  /** With the keys of enough authorities; of all that answer, where a lie of one of the first would explain what does not open. */
  async #open(buffer: SecureBuffer, fence: Fence | undefined): Promise<OpenedSum> {
    const { closeBy, parts } = buffer.descriptor;
    const enough = await this.#close(buffer, fence, 'enough');
    if (enough.length === parts.length) return openSumOf(this.#options, buffer, enough);
    const first = await openSumOf(this.#options, buffer, enough).catch(() => undefined);
    if (first !== undefined && !isUnsure(first)) return first;
    const all = await this.#close(buffer, fence, 'all');
    const opened = await openSumOf(this.#options, buffer, all);
    const missing = parts.length - all.length;
    if (isUnsure(opened) && missing > 0 && (await this.#options.store.now()) < closeBy)
      throw new Error(`${opened.why}; ${missing} more of them could tell, and did not answer`);
    return opened;
  }

  async #makeModel(buffer: SecureBuffer, fence: Fence | undefined): Promise<StoredModel | undefined> {
    const { models, watch } = this.#options;
    const { ctx, accepted, descriptor, slots } = buffer;
    const opened = await this.#open(buffer, fence);
    if (opened.kind === 'quarantine') return this.#quarantine(buffer, opened, fence);
    try {
      const counts = { accepted: accepted.length, dropped: slots.length - accepted.length };
      const { shards, prefix } = opened;
      const floor = descriptor.version - descriptor.maxStaleness;
      const ranges = accepted.map((slot) => this.#options.versionsOf(ctx, (slots[slot] as BufferSlot).user));
      const ageAt = (now: number) => {
        const told = meanAgeOf(descriptor, { ...prefix, ...counts, now });
        return descriptor.versions === 'one' ? told : boundedAge(told, { now, floor, ranges });
      };
      const sum = { ageAt, ...prefix };
      return await watch.traces.step('model-step', { ctx }, () => models.make(ctx, shards, { counts, fence, sum }));
    } catch (error) {
      if (error instanceof SumRefused) return this.#quarantine(buffer, error.quarantined, fence);
      throw error;
    }
  }

  /** Counted against those who cheated, where they are known, and against nobody else: one liar would lock out the others. */
  async #quarantine(
    { ctx, slots, descriptor }: SecureBuffer,
    { why, slots: known }: Quarantined,
    fence: Fence | undefined,
  ): Promise<undefined> {
    const { keeper, models, onIncluded } = this.#options;
    const users = known.flatMap((slot) => slots[slot]?.user ?? []);
    // Every close is a version, here with the same parameters: the devices of the sum could give nothing more on the old one.
    const logged =
      descriptor.versions === 'one'
        ? await this.#logged(ctx, (await models.of(ctx)) ?? (await models.repeat(ctx, slots.length, fence)))
        : undefined;
    const step = (found: SecureBuffer) => recordQuarantine(found, why, known);
    const more = (before: SecureBuffer, _: SecureBuffer, now: number) => ({
      burnt: { at: now, users },
      verdict: verdictOf(before, 'spoilt', users),
      ...(logged !== undefined && { logged }),
    });
    granted(await keeper.step(ctx, step, { more, fence }));
    if (logged === undefined) return;
    await models.refresh();
    await onIncluded();
  }

  /** The entry of a version, logged now if it is not yet. */
  async #logged(ctx: Ctx, made: StoredModel): Promise<ModelEntry> {
    const { models, ports, watch } = this.#options;
    const votes = votesFor(ports, await this.#found(ctx));
    return made.entry ?? (await watch.traces.step('log', { ctx }, () => models.log(made, votes)));
  }

  /** "Included" and the logged model are written together. */
  async #include(ctx: Ctx, made: StoredModel, fence: Fence | undefined): Promise<void> {
    const { keeper, models, onIncluded } = this.#options;
    const logged = await this.#logged(ctx, made);
    const step = (buffer: SecureBuffer) => recordIncluded(buffer, made.version);
    const more = (before: SecureBuffer) => ({ logged, verdict: verdictOf(before, 'clean') });
    granted(await keeper.step(ctx, step, { more, fence }));
    await models.refresh();
    await onIncluded();
  }

  async #tidy(ctx: Ctx): Promise<void> {
    const buffer = await this.#found(ctx);
    if (!isEnded(buffer.status)) return;
    this.#backoff.over(toHex(ctx));
    await this.#options.onEnded(ctx);
  }

  async #found(ctx: Ctx): Promise<SecureBuffer> {
    const buffer = await this.#options.keeper.find(ctx);
    if (buffer === undefined) throw new Error(`the buffer ${toHex(ctx)} is not in the store`);
    return buffer;
  }
}

function isUnsure(opened: OpenedSum): opened is Quarantined {
  return opened.kind === 'quarantine' && opened.isUnsure === true;
}

/** What the sum says of those in it. */
function verdictOf(
  { accepted, descriptor, slots }: SecureBuffer,
  outcome: Verdict['outcome'],
  named: readonly UserId[] = [],
): Verdict {
  const users = accepted.flatMap((slot) => slots[slot]?.user ?? []);
  return { task: descriptor.task, minimum: descriptor.minimum, users, outcome, named };
}

/** What our own steps never refuse. */
function granted<Answer extends object>(answer: Answer | Refused): Answer {
  if ('kind' in answer && answer.kind === 'refused')
    throw new Error(`a step was refused: ${(answer as Refused).reason}`);
  return answer as Answer;
}
