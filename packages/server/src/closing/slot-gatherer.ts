/**
 * Gathers updates in the slots of a buffer.
 *
 *     filling --resolved, stalled, expired--> frozen
 *        \-- too few until closeBy, or for good --> aborted
 */
import {
  agreedOutcome,
  type BufferSlot,
  type Ctx,
  freezeBuffer,
  isDrawn,
  isEndorsed,
  isGranted,
  type KeysOf,
  meanAgeOf,
  millis,
  modelEntryCodec,
  type OutcomeOf,
  recordAbort,
  recordGrant,
  recordQuarantine,
  type SecureBuffer,
  type ServerPorts,
  tickBuffer,
  type UserId,
  type Vote,
  votesFor,
} from '@basa/protocol';
import type { TaskAuthorities } from '../authority/task-authorities.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import { bodiesOf, bodiesOfSlot } from '../blobs/body-key.ts';
import type { BufferKeeper } from '../buffers/buffer-keeper.ts';
import type { Fence } from '../store/leases.ts';
import { boundedAge, type VersionRange } from './bounded-age.ts';
import type { Gatherer } from './gatherer.ts';
import { granted } from './granted.ts';
import type { ModelKeeper } from './model-keeper.ts';
import { type OpenedSum, type OpeningTools, openSumOf } from './opening.ts';
import { type EndingRules, freezeReason, isToBeGivenUp } from './when-to-end.ts';
import type { GoodPrefix, Quarantined } from './work/tasks.ts';

export interface SlotGathererOptions extends OpeningTools, EndingRules {
  readonly keeper: BufferKeeper;
  readonly blobs: BlobStore;
  readonly models: ModelKeeper;
  readonly authorities: TaskAuthorities;
  readonly ports: ServerPorts;
  /** The versions that the update of a device may be trained on, as far as this process saw it. */
  versionsOf(ctx: Ctx, user: UserId): VersionRange;
}

/** A thief of the server's key made that version. */
const TAKEN = 'it is in a version that this server did not make';

export class SlotGatherer implements Gatherer<SecureBuffer> {
  readonly #options: SlotGathererOptions;
  readonly keeper: BufferKeeper;

  constructor(options: SlotGathererOptions) {
    this.#options = options;
    this.keeper = options.keeper;
  }

  isDue(buffer: SecureBuffer, now: number): boolean {
    const isOverdue = tickBuffer(buffer, millis(now)).records.length > 0;
    const isOver = now >= buffer.descriptor.closeBy || isToBeGivenUp(this.#options, buffer) || !this.#isOfTerm(buffer);
    return isOverdue || isOver || freezeReason(this.#options, buffer, now) !== undefined;
  }

  async gather({ ctx }: SecureBuffer, fence: Fence | undefined): Promise<boolean> {
    const { authorities, watch } = this.#options;
    const now = await this.#dropOverdue(ctx, fence);
    const buffer = (await this.keeper.find(ctx)) as SecureBuffer;
    if (buffer.status !== 'filling') return true;
    // The authorities gave up all open buffers of earlier terms.
    if (!this.#isOfTerm(buffer)) return this.#isOver(buffer, fence);
    if (isToBeGivenUp(this.#options, buffer)) return this.#isOver(buffer, fence, await authorities.abort(ctx));
    const why = freezeReason(this.#options, buffer, now);
    if (why === undefined) return true;
    const frozen = await watch.traces.step('freeze', { ctx, attributes: { 'basa.why': why } }, () =>
      this.keeper.step(ctx, (found, time) => freezeBuffer(found, why, time), { fence }),
    );
    // Too few updates: nothing to do until the authority aborts the buffer.
    return !('kind' in frozen) || now < buffer.descriptor.closeBy || this.#isOver(buffer, fence);
  }

  #isOfTerm({ descriptor }: SecureBuffer): boolean {
    return descriptor.term === undefined || isDrawn(this.#options.ports.suite, descriptor, descriptor);
  }

  async #isOver(buffer: SecureBuffer, fence: Fence | undefined, told?: readonly OutcomeOf[]): Promise<boolean> {
    await this.#recordLoss(buffer, fence, told);
    return (await this.keeper.find(buffer.ctx))?.status !== 'filling';
  }

  /** Returns the time of the step. */
  async #dropOverdue(ctx: Ctx, fence: Fence | undefined): Promise<number> {
    let dropped: readonly BufferSlot[] = [];
    let at = 0;
    const more = (before: SecureBuffer, after: SecureBuffer, now: number) => {
      dropped = after.slots.filter(({ status }, l) => status === 'dropped' && before.slots[l]?.status !== 'dropped');
      at = now;
      return { burnt: { at: now, users: dropped.map(({ user }) => user) } };
    };
    await this.keeper.step(ctx, tickBuffer, { more, fence });
    for (const { ticket } of dropped) await this.#options.blobs.removeBelow(bodiesOfSlot(ctx, ticket.slot));
    return at;
  }

  async lost(buffer: SecureBuffer, fence: Fence | undefined): Promise<void> {
    await this.#recordLoss(buffer, fence);
    const { status } = (await this.keeper.find(buffer.ctx)) ?? buffer;
    if (!isGranted({ status }) || !(await this.#isTaken(buffer))) return;
    const { models } = this.#options;
    const made = await models.of(buffer.ctx);
    const more = { withoutModel: true } as const;
    await this.keeper.step(buffer.ctx, (found) => recordQuarantine(found, TAKEN, []), { more, fence });
    if (made !== undefined) await models.discard(made);
  }

  /**
   * True for a buffer of an earlier term that the authorities have in a version of a thief. They gave up those in no version, and once this
   * term has a version here, no other version of that term is ours.
   */
  async #isTaken(buffer: SecureBuffer): Promise<boolean> {
    const { models, ports } = this.#options;
    if (this.#isOfTerm(buffer)) return false;
    await models.refresh();
    const { entry } = models.newest ?? {};
    return entry !== undefined && isEndorsed(ports.suite, modelEntryCodec, buffer.descriptor, entry);
  }

  async #recordLoss(
    { ctx, descriptor }: SecureBuffer,
    fence: Fence | undefined,
    told?: readonly OutcomeOf[],
  ): Promise<void> {
    const { authorities, models, ports } = this.#options;
    const outcomes = told ?? (await authorities.outcomes(ctx));
    const status = agreedOutcome(ports.suite, descriptor, ctx, outcomes)?.status;
    if (status !== 'aborted' && status !== 'unknown') return;
    const made = await models.of(ctx);
    const lost = await this.keeper.step(ctx, (buffer) => recordAbort(ports, buffer, outcomes), {
      more: { withoutModel: true },
      fence,
    });
    if (lost.kind !== 'refused' && made !== undefined) await models.discard(made);
  }

  /** Requests votes and keys; repeated requests get the same answers. */
  async #close({ ctx }: SecureBuffer, fence: Fence | undefined, whose: 'enough' | 'all'): Promise<readonly KeysOf[]> {
    const { authorities, watch } = this.#options;
    const frozen = (await this.keeper.find(ctx)) as SecureBuffer;
    const grant = granted(await watch.traces.step('close', { ctx }, () => authorities.close(frozen, whose)));
    granted(await this.keeper.step(ctx, (found) => recordGrant(found, grant), { fence }));
    return grant.answers.map(({ authority, answer }) => ({ authority, keys: answer.keys }));
  }

  /** With the keys of enough authorities; of all that answer, if a lie of one of the first could explain why it does not open. */
  async open(buffer: SecureBuffer, fence: Fence | undefined): Promise<OpenedSum> {
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

  votesFor(buffer: SecureBuffer): readonly Vote[] {
    return votesFor(this.#options.ports, buffer);
  }

  usersAt(buffer: SecureBuffer, slots: readonly number[]): readonly UserId[] {
    return slots.flatMap((slot) => buffer.slots[slot]?.user ?? []);
  }

  countsOf({ accepted, slots }: SecureBuffer): { readonly accepted: number; readonly dropped: number } {
    return { accepted: accepted.length, dropped: slots.length - accepted.length };
  }

  ageAt(buffer: SecureBuffer, prefix: GoodPrefix, now: number): number {
    const { ctx, descriptor, users, accepted } = buffer;
    const told = meanAgeOf(descriptor, { ...prefix, accepted: accepted.length, now });
    if (descriptor.versions === 'one') return told;
    const floor = descriptor.version - descriptor.maxStaleness;
    return boundedAge(told, { now, floor, ranges: users.map((user) => this.#options.versionsOf(ctx, user)) });
  }

  /** Every buffer makes a version. */
  async isLast(): Promise<boolean> {
    return true;
  }

  ended({ ctx }: SecureBuffer): Promise<void> {
    return this.#options.blobs.removeBelow(bodiesOf(ctx));
  }
}

function isUnsure(opened: OpenedSum): opened is Quarantined {
  return opened.kind === 'quarantine' && opened.isUnsure === true;
}
