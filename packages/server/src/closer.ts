/**
 * Brings buffers to their end, whatever stopped it before: each look takes a buffer as far as it goes.
 *
 *     filling --resolved, stalled, expired--> frozen --authority--> granted --sum--> model --log--> included
 *        \-- too few until closeBy --> aborted                         \-- guard words --> quarantined
 */
import { toHex } from '@basa/masking';
import type { BasaEvent, Ctx, FreezeReason, Refused, ReleasedKey, SecureBuffer, ServerPorts } from '@basa/protocol';
import {
  closeRequestOf,
  descriptorCodec,
  encodeBufferRecord,
  freezeBuffer,
  millis,
  recordAbort,
  recordGrant,
  recordIncluded,
  recordQuarantine,
  tickBuffer,
} from '@basa/protocol';
import type { WorkerPool } from '@basa/runtime/node';
import type { AuthorityLink } from './authority-link.ts';
import { AuthorityRefusal } from './authority-link.ts';
import type { BufferKeeper } from './buffer-keeper.ts';
import type { ModelKeeper } from './model-keeper.ts';
import type { Store, StoredModel } from './store/store.ts';
import { bodyKey } from './uploads.ts';
import type { OpenedSum, WorkResult, WorkTask } from './work/tasks.ts';

export interface CloserOptions {
  readonly keeper: BufferKeeper;
  readonly models: ModelKeeper;
  readonly store: Store;
  readonly authority: AuthorityLink;
  readonly ports: ServerPorts;
  readonly pool: WorkerPool<WorkTask, WorkResult>;
  readonly blobFolder: string;
  readonly stallMs: number | undefined;
  readonly clock: () => number;
  /** When the last upload of a buffer came, as far as this process saw it. */
  lastUploadAt(ctx: Ctx): number;
  onIncluded(model: StoredModel): Promise<void>;
  /** The buffer has ended: its bodies are not needed any more. */
  onEnded(buffer: SecureBuffer): Promise<void>;
  onEvent(event: BasaEvent): void;
}

export class Closer {
  readonly #options: CloserOptions;

  constructor(options: CloserOptions) {
    this.#options = options;
  }

  /** Takes the buffer as far as it goes now. One call at a time for each task: versions follow each other. */
  async attend(ctx: Ctx): Promise<void> {
    const { keeper } = this.#options;
    await this.#dropOverdue(ctx);
    let buffer = await this.#found(ctx);
    if (buffer.status === 'filling') {
      const why = this.#freezeReason(buffer);
      if (why === undefined) return;
      const frozen = await keeper.step(
        ctx,
        (now) => freezeBuffer(now, why, millis(this.#options.clock())),
        burntAtFreeze(this.#options.clock),
      );
      if ('kind' in frozen) return this.#giveUpIfOver(buffer);
      buffer = await this.#found(ctx);
    }
    if (buffer.status === 'frozen' || buffer.status === 'granted') await this.#finish(buffer);
    await this.#tidy(ctx);
  }

  async #dropOverdue(ctx: Ctx): Promise<void> {
    const now = this.#options.clock();
    await this.#options.keeper.step(
      ctx,
      (buffer) => tickBuffer(buffer, millis(now)),
      (before, after) => ({
        burnt: { at: now, users: newlyDropped(before, after) },
      }),
    );
  }

  #freezeReason({ ctx, slots, descriptor }: SecureBuffer): FreezeReason | undefined {
    const { clock, stallMs, lastUploadAt } = this.#options;
    const now = clock();
    if (slots.length === descriptor.bufferSize && slots.every(({ status }) => status !== 'assigned')) return 'resolved';
    if (now >= descriptor.expiry) return 'expired';
    const accepted = slots.filter(({ status }) => status === 'accepted').length;
    const isStalled = stallMs !== undefined && accepted >= descriptor.minimum && now - lastUploadAt(ctx) >= stallMs;
    return isStalled ? 'stalled' : undefined;
  }

  /** Too few updates: nothing to do until the authority aborts the buffer. */
  async #giveUpIfOver({ ctx, descriptor }: SecureBuffer): Promise<void> {
    if (this.#options.clock() < descriptor.closeBy) return;
    await this.#recordLoss(ctx);
    await this.#tidy(ctx);
  }

  async #recordLoss(ctx: Ctx): Promise<void> {
    const { authority, keeper, ports } = this.#options;
    const outcome = await authority.outcome(ctx);
    if (outcome.status !== 'aborted' && outcome.status !== 'unknown') return;
    await keeper.step(ctx, (buffer) => recordAbort(ports, buffer, outcome), { withoutModel: true });
  }

  async #finish(buffer: SecureBuffer): Promise<void> {
    const { models } = this.#options;
    const { ctx } = buffer;
    try {
      const made = (await models.of(ctx)) ?? (await this.#makeModel(buffer, await this.#close(buffer)));
      if (made !== undefined) await this.#include(ctx, made);
    } catch (error) {
      // The authority knows better: it aborted the buffer, or lost its memory of it.
      if (error instanceof AuthorityRefusal) await this.#recordLoss(ctx);
      throw error;
    }
  }

  /** Asks for the keys; asked again, the authority gives the same. */
  async #close({ ctx, descriptor }: SecureBuffer): Promise<readonly ReleasedKey[]> {
    const { authority, keeper, ports } = this.#options;
    const request = granted(closeRequestOf(ports, await this.#found(ctx)));
    const answer = await authority.close(request, descriptor.bufferSize);
    granted(await keeper.step(ctx, (now) => recordGrant(ports, now, answer)));
    return answer.keys;
  }

  async #makeModel(buffer: SecureBuffer, keys: readonly ReleasedKey[]): Promise<StoredModel | undefined> {
    const { keeper, models, clock } = this.#options;
    const { ctx, accepted, slots } = buffer;
    const opened = await this.#open(buffer, keys);
    for (const { key } of keys) key.fill(0);
    if (opened.kind === 'quarantine') {
      const users = accepted.flatMap((slot) => slots[slot]?.user ?? []);
      const step = (now: SecureBuffer) => recordQuarantine(now, opened.why, opened.slots);
      granted(await keeper.step(ctx, step, { burnt: { at: clock(), users } }));
      return undefined;
    }
    return models.make(ctx, opened.mean, { accepted: accepted.length, dropped: slots.length - accepted.length });
  }

  async #open({ ctx, descriptor, accepted }: SecureBuffer, keys: readonly ReleasedKey[]): Promise<OpenedSum> {
    const { store, pool, blobFolder } = this.#options;
    const { result: facts } = await store.advance(ctx, 0, (all) => ({ change: undefined, result: all }));
    const { slots } = await this.#found(ctx);
    const bodies = accepted.map((slot) => {
      const header = slots[slot]?.header;
      if (header === undefined) throw new Error(`slot ${slot} is accepted without a header`);
      return { slot, key: bodyKey(header) };
    });
    const task: WorkTask = {
      kind: 'open-sum',
      descriptor: descriptorCodec.encode(descriptor),
      facts: facts.map(encodeBufferRecord),
      deposits: await store.deposits(ctx),
      keys,
      blobFolder,
      bodies,
    };
    return (await pool.run(task)) as OpenedSum;
  }

  /** "Included" and the logged model are written together. */
  async #include(ctx: Ctx, made: StoredModel): Promise<void> {
    const { keeper, models, onIncluded } = this.#options;
    const logged = made.entry ?? (await models.log(made));
    granted(await keeper.step(ctx, (buffer) => recordIncluded(buffer, made.version), { logged }));
    await models.refresh();
    await onIncluded({ ...made, entry: logged });
  }

  async #tidy(ctx: Ctx): Promise<void> {
    const buffer = await this.#found(ctx);
    if (buffer.status === 'filling' || buffer.status === 'frozen' || buffer.status === 'granted') return;
    await this.#options.onEnded(buffer);
    this.#options.keeper.forget(ctx);
  }

  async #found(ctx: Ctx): Promise<SecureBuffer> {
    const buffer = await this.#options.keeper.find(ctx);
    if (buffer === undefined) throw new Error(`the buffer ${toHex(ctx)} is not in the store`);
    return buffer;
  }
}

/** Slots that had not uploaded when the buffer was closed come to nothing as well. */
function burntAtFreeze(clock: () => number) {
  return (before: SecureBuffer) => ({
    burnt: { at: clock(), users: before.slots.filter(({ status }) => status === 'assigned').map(({ user }) => user) },
  });
}

function newlyDropped(before: SecureBuffer, after: SecureBuffer) {
  return after.slots
    .filter(({ status }, l) => status === 'dropped' && before.slots[l]?.status !== 'dropped')
    .map(({ user }) => user);
}

/** What our own steps never refuse. */
function granted<Answer extends object>(answer: Answer | Refused): Answer {
  if ('kind' in answer && answer.kind === 'refused')
    throw new Error(`a step was refused: ${(answer as Refused).reason}`);
  return answer as Answer;
}
