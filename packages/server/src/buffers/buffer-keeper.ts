/**
 * Runs the steps of buffers over the store: locked, durable, then answered. What it keeps in memory are copies of the
 * buffers that have not ended; where several nodes share the store, a copy may be old, and every step takes in what is new.
 */
import { toHex } from '@basa/masking';
import {
  type BasaEvent,
  type BufferStep,
  type Ctx,
  type Deposit,
  type Descriptor,
  evolveSecureBuffer,
  type Millis,
  millis,
  openSecureBuffer,
  outboxOf,
  type Refused,
  type SecureBuffer,
  type ServerPorts,
  type Ticket,
  userIdOf,
} from '@basa/protocol';
import { type BufferChange, isEnded, type StoredBuffer } from '../store/buffers.ts';
import type { Fence } from '../store/leases.ts';
import type { Store } from '../store/store.ts';
import { messagesOf } from './messages.ts';

/** Returns the copy in memory if nobody else can have changed what it was read from, else what `read` finds. */
export type UpToDate = <Copy>(copy: Copy, read: () => Promise<Copy>) => Promise<Copy>;

interface Kept {
  readonly buffer: SecureBuffer;
  /** How many facts it is made of. */
  readonly number: number;
}

/** What goes into the transaction of a step besides its records. */
type More = Pick<BufferChange, 'logged' | 'withoutModel' | 'burnt' | 'verdict'>;
type MoreOf = (before: SecureBuffer, after: SecureBuffer, now: Millis) => More;

export interface StepOptions {
  readonly more?: More | MoreOf;
  /** The lease that the step is taken under. */
  readonly fence?: Fence | undefined;
}

export interface BufferKeeperOptions {
  readonly store: Store;
  readonly ports: ServerPorts;
  readonly upToDate: UpToDate;
  onEvent(event: BasaEvent): void;
  /** Called with every buffer that was read or changed. */
  onBuffer(buffer: SecureBuffer): void;
  /** Called with every buffer that this node has changed. */
  onChange?(buffer: SecureBuffer): void;
}

export class BufferKeeper {
  readonly #options: BufferKeeperOptions;
  readonly #kept = new Map<string, Kept>();

  constructor(options: BufferKeeperOptions) {
    this.#options = options;
  }

  /** How many buffers are in memory. */
  get held(): number {
    return this.#kept.size;
  }

  /** Copies of the buffers that have not ended. */
  get living(): readonly SecureBuffer[] {
    return [...this.#kept.values()].map(({ buffer }) => buffer);
  }

  async add(drawn: Omit<StoredBuffer, 'ctx'>, nonce?: Uint8Array): Promise<SecureBuffer> {
    const buffer = openSecureBuffer(this.#options.ports.suite, drawn);
    await this.#options.store.addBuffer({ ...drawn, ctx: buffer.ctx }, nonce);
    this.#keep({ buffer, number: 0 });
    return buffer;
  }

  /** The buffer as it is known here; undefined for one that is not in the store. What it says no to, `fresh` may not. */
  async find(ctx: Ctx): Promise<SecureBuffer | undefined> {
    return (await this.#find(ctx))?.buffer;
  }

  /** The buffer as it is in the store. */
  async fresh(ctx: Ctx): Promise<SecureBuffer | undefined> {
    const kept = await this.#find(ctx);
    return kept && (await this.#options.upToDate(kept, () => this.#catchUp(kept))).buffer;
  }

  /** Takes in what other nodes have done to buffers that have not ended. Returns their names. */
  async refresh(): Promise<readonly Ctx[]> {
    const { store, ports } = this.#options;
    const living = await store.livingBuffers();
    for (const { number, ...stored } of living) {
      const kept = this.#kept.get(toHex(stored.ctx));
      if (kept === undefined) await this.#catchUp({ buffer: openSecureBuffer(ports.suite, stored), number: 0 });
      else if (kept.number < number) await this.#catchUp(kept);
    }
    return living.map(({ ctx }) => ctx);
  }

  /** Takes one step. What it answers is durable. */
  async step<Answer>(
    ctx: Ctx,
    work: (buffer: SecureBuffer, now: Millis) => BufferStep<Answer>,
    { more = {}, fence }: StepOptions = {},
  ): Promise<Answer | Refused> {
    const { store, onEvent, onChange } = this.#options;
    const kept = await this.#find(ctx);
    if (kept === undefined) return { kind: 'refused', reason: 'buffer-unknown' };
    const advanced = await store.advance(
      ctx,
      kept.number,
      (newFacts, time) => {
        const now = millis(time);
        const before = newFacts.reduce(evolveSecureBuffer, kept.buffer);
        const { state, records, answer, events } = work(before, now);
        const extra = typeof more === 'function' ? more(before, state, now) : more;
        const change = records.length === 0 ? undefined : { ...extra, ...this.#changeOf(state, records) };
        return { change, result: { state, answer, events, isChanged: change !== undefined } };
      },
      fence,
    );
    const { state, answer, events, isChanged } = advanced.result;
    this.#keep({ buffer: state, number: advanced.number });
    for (const event of events) onEvent(event);
    if (isChanged) onChange?.(state);
    return answer;
  }

  async #find(ctx: Ctx): Promise<Kept | undefined> {
    const kept = this.#kept.get(toHex(ctx));
    if (kept !== undefined) return kept;
    const { store, ports } = this.#options;
    const stored = await store.buffer(ctx);
    if (stored === undefined) return undefined;
    return this.#catchUp({ buffer: openSecureBuffer(ports.suite, stored), number: 0 });
  }

  async #catchUp({ buffer, number }: Kept): Promise<Kept> {
    const facts = await this.#options.store.facts(buffer.ctx, number);
    return this.#keep({ buffer: facts.reduce(evolveSecureBuffer, buffer), number: number + facts.length });
  }

  /** Answers of the database may overtake each other: what is newer stays. */
  #keep(kept: Kept): Kept {
    const name = toHex(kept.buffer.ctx);
    const known = this.#kept.get(name);
    if (known !== undefined && known.number > kept.number) return known;
    if (isEnded(kept.buffer.status)) this.#kept.delete(name);
    else this.#kept.set(name, kept);
    this.#options.onBuffer(kept.buffer);
    return kept;
  }

  #changeOf(state: SecureBuffer, records: BufferStep<unknown>['records']): BufferChange {
    const change: BufferChange = { facts: records, status: state.status };
    const deposited = records.find((entry) => entry.kind === 'deposited');
    if (deposited?.kind !== 'deposited') return change;
    return { ...change, deposit: this.#filed(state.descriptor, deposited.slot.ticket, deposited.deposit) };
  }

  #filed(descriptor: Descriptor, ticket: Ticket, deposit: Deposit): NonNullable<BufferChange['deposit']> {
    const codecs = messagesOf(descriptor);
    const outbox = outboxOf(this.#options.ports.suite, deposit, ticket).map((entry) => codecs.inboxEntry.encode(entry));
    const user = userIdOf(this.#options.ports.suite, deposit.certificate.deviceKey);
    const { slot, deadline: until } = ticket;
    return { slot, task: descriptor.task, user, until, bytes: codecs.deposit.encode(deposit), outbox };
  }
}
