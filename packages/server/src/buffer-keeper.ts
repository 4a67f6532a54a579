/**
 * Runs the steps of buffers over the store: locked, durable, then answered. What it keeps in memory are copies of the
 * buffers that have not ended.
 */
import { engineSealedBytes } from '@basa/abe';
import { toHex } from '@basa/masking';
import type {
  BasaEvent,
  BufferFact,
  BufferStep,
  Ctx,
  Deposit,
  Descriptor,
  Refused,
  SecureBuffer,
  ServerPorts,
  UserMessages,
} from '@basa/protocol';
import { evolveSecureBuffer, openSecureBuffer, outboxOf, userMessages } from '@basa/protocol';
import type { BufferChange, Store, StoredBuffer } from './store/store.ts';
import { isEnded } from './store/store.ts';

interface Kept {
  readonly buffer: SecureBuffer;
  /** How many facts it is made of. */
  readonly number: number;
}

/** What goes into the transaction of a step besides its records. */
type More = Pick<BufferChange, 'logged' | 'withoutModel' | 'burnt'>;

export interface BufferKeeperOptions {
  readonly store: Store;
  readonly ports: ServerPorts;
  onEvent(event: BasaEvent): void;
  /** Told of every buffer that was read or changed. */
  onBuffer(buffer: SecureBuffer): void;
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

  async add(drawn: Omit<StoredBuffer, 'ctx'>): Promise<SecureBuffer> {
    const buffer = openSecureBuffer(this.#options.ports.suite, drawn.descriptor);
    await this.#options.store.addBuffer({ ...drawn, ctx: buffer.ctx });
    this.#keep({ buffer, number: 0 });
    return buffer;
  }

  /** The buffer as it is known here; undefined for one that is not in the store. */
  async find(ctx: Ctx): Promise<SecureBuffer | undefined> {
    const kept = this.#kept.get(toHex(ctx)) ?? (await this.#restore(ctx));
    return kept?.buffer;
  }

  /** Takes one step. What it answers is durable. */
  async step<Answer>(
    ctx: Ctx,
    work: (buffer: SecureBuffer) => BufferStep<Answer>,
    more: More | ((before: SecureBuffer, after: SecureBuffer) => More) = {},
  ): Promise<Answer | Refused> {
    const { store, onEvent } = this.#options;
    const kept = this.#kept.get(toHex(ctx)) ?? (await this.#restore(ctx));
    if (kept === undefined) return { kind: 'refused', reason: 'buffer-unknown' };
    const { result, number } = await store.advance(ctx, kept.number, (newFacts) => {
      const before = newFacts.reduce(evolveSecureBuffer, kept.buffer);
      const { state, records, answer, events } = work(before);
      const extra = typeof more === 'function' ? more(before, state) : more;
      const change = records.length === 0 ? undefined : { ...extra, ...this.#changeOf(state, records) };
      return { change, result: { state, answer, events } };
    });
    this.#keep({ buffer: result.state, number });
    for (const event of result.events) onEvent(event);
    return result.answer;
  }

  async #restore(ctx: Ctx): Promise<Kept | undefined> {
    const { store, ports } = this.#options;
    const stored = await store.buffer(ctx);
    if (stored === undefined) return undefined;
    const fresh = openSecureBuffer(ports.suite, stored.descriptor);
    const { result, number } = await store.advance(ctx, 0, (facts: readonly BufferFact[]) => ({
      change: undefined,
      result: facts.reduce(evolveSecureBuffer, fresh),
    }));
    return this.#keep({ buffer: result, number });
  }

  #keep(kept: Kept): Kept {
    const name = toHex(kept.buffer.ctx);
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

  #filed(
    descriptor: Descriptor,
    ticket: Parameters<typeof outboxOf>[2],
    deposit: Deposit,
  ): NonNullable<BufferChange['deposit']> {
    const codecs = messagesOf(descriptor);
    const outbox = outboxOf(this.#options.ports.suite, deposit, ticket).map((entry) => codecs.inboxEntry.encode(entry));
    return { slot: ticket.slot, bytes: codecs.deposit.encode(deposit), outbox };
  }
}

/** The codecs of a buffer's messages with ciphertexts. */
export function messagesOf({ bufferSize, engine }: Pick<Descriptor, 'bufferSize' | 'engine'>): UserMessages {
  return userMessages(bufferSize, { sealedBytes: sealedBytesOf(engine) });
}

/** The server takes no task of an engine without sealing. */
export function sealedBytesOf(engine: number): number {
  const bytes = engineSealedBytes(engine);
  if (bytes === undefined) throw new RangeError(`there is no engine ${engine}`);
  return bytes;
}
