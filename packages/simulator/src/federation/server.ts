/** The server of a federation: the real cores, and a store that holds records, deposits and bodies. */
import { dequantizeSum, equalBytes, type Signer, toHex } from '@basa/masking';
import {
  acceptDeposit,
  acceptUpload,
  authorityMessages,
  type BufferRecord,
  type BufferStep,
  type Certificate,
  type Ctx,
  certificateProblem,
  type Deposit,
  type DepositAnswer,
  type DescribedBuffer,
  enterBuffer,
  extendLeases,
  type FreezeReason,
  freezeBuffer,
  type InboxEntry,
  judgeHeader,
  type Millis,
  type ModelAppend,
  type ModelEntry,
  millis,
  type OpenBuffer,
  type OpeningInput,
  openSecureBuffer,
  outboxOf,
  type ReceivedBody,
  type Refused,
  recordAbort,
  recordGrant,
  recordIncluded,
  recordQuarantine,
  restoreSecureBuffer,
  type SeatRequest,
  type SecureBuffer,
  type ServerPorts,
  type Slot,
  type SumVerdict,
  tickBuffer,
  type UploadHeader,
  type UserId,
  type UserMessages,
  unframeHeader,
  userIdOf,
  userMessages,
  votesFor,
  withPolicy,
} from '@basa/protocol';
import { FederationCouncil } from './council.ts';
import { granted } from './granted.ts';
import { openStored, sealedIn, unpackBody, vectorIn } from './opening.ts';
import { outcomesOf, type ServerPeer, type World } from './world.ts';

interface StoredBuffer extends DescribedBuffer {
  readonly records: BufferRecord[];
}

/** The time for which a seat waits for its deposit. */
export const SEAT_MS = 500;

export class FederationServer implements ServerPeer {
  readonly world: World;
  readonly ports: ServerPorts;
  /** On disk. */
  readonly stored = new Map<string, StoredBuffer>();
  readonly bodies = new Map<string, Uint8Array>();
  /** w^t, represented by the inputs in its sums. With one-hot inputs, the sum itself shows which inputs it contains. */
  models: { readonly version: number; readonly ctx: Ctx; readonly sum: number[] }[] = [];
  /** In memory. */
  buffers = new Map<string, SecureBuffer>();
  seats = new Map<string, { readonly ctx: Ctx; readonly until: number }>();
  seatMs = SEAT_MS;
  readonly #council: FederationCouncil;
  readonly #outboxes = new WeakMap<BufferRecord, readonly InboxEntry[]>();

  constructor(world: World, signer: Signer) {
    this.world = world;
    this.ports = { suite: world.environment.tools.suite, signer };
    this.#council = new FederationCouncil(world, this.ports);
  }

  buffer(ctx: Ctx): SecureBuffer {
    const buffer = this.buffers.get(toHex(ctx));
    if (buffer === undefined) throw new Error('no such buffer');
    return buffer;
  }

  /** On disk: the entries that enough authorities signed, by version. */
  get modelLog(): ModelEntry[] {
    return this.#council.log;
  }

  entry(version?: number): ModelEntry {
    return this.#council.entry(version);
  }

  /** Hands out a seat; draws another buffer if all seats in buffers of this version are taken. */
  seat(request: SeatRequest): DescribedBuffer | Refused {
    const { now, task, policy } = this.world;
    const problem = certificateProblem(this.ports, { task, ...policy }, request.certificate, now);
    if (problem !== undefined) return problem;
    const user = userIdOf(this.ports.suite, request.certificate.deviceKey);
    for (;;) {
      const entry = enterBuffer(this.#openTo(user), { now, version: request.version });
      if (entry.kind === 'seated') {
        const { ctx } = entry.buffer;
        if (entry.isNew) this.seats.set(toHex(user), { ctx, until: now + this.seatMs });
        return this.buffer(ctx);
      }
      this.drawBuffer(policy.versions === 'one' ? request.version : undefined);
    }
  }

  /** True if the device holds a living seat in the buffer: a service accepts deposits of seated devices only. */
  holdsSeat({ deviceKey }: Certificate, ctx: Uint8Array, now: Millis = this.world.now): boolean {
    const seat = this.seats.get(toHex(userIdOf(this.ports.suite, deviceKey)));
    return seat !== undefined && equalBytes(seat.ctx, ctx) && now < seat.until;
  }

  /** Returns the buffers that are filling, the oldest first, as the user finds them. A seat counts until its device has a slot. */
  #openTo(user: UserId): readonly OpenBuffer[] {
    const filling = [...this.buffers.values()].filter(({ status }) => status === 'filling');
    return filling.map(({ ctx, descriptor, slots }) => {
      const inSlots = new Set(slots.map((slot) => toHex(slot.user)));
      const seated = [...this.seats].filter(
        ([one, seat]) => equalBytes(seat.ctx, ctx) && this.world.now < seat.until && !inSlots.has(one),
      );
      const hasSeat = seated.some(([one]) => one === toHex(user));
      const own = inSlots.has(toHex(user)) ? 'slot' : hasSeat ? 'seat' : undefined;
      return { ctx, descriptor, taken: slots.length + seated.length, own };
    });
  }

  /** Draws a buffer of this version; the newest one by default. */
  drawBuffer(version?: number): Ctx {
    const { descriptor, slotKeys } = this.#council.draw(this.entry(version));
    const drawn = { descriptor: withPolicy(this.world.policy, descriptor), slotKeys };
    const buffer = openSecureBuffer(this.ports.suite, drawn);
    this.stored.set(toHex(buffer.ctx), { ...drawn, records: [] });
    this.#keep(buffer);
    return buffer.ctx;
  }

  deposit(bytes: Uint8Array): Uint8Array | Refused {
    const answer = this.takeDeposit(this.messages.deposit.decode(bytes));
    return 'kind' in answer ? answer : this.messages.depositAnswer.encode(answer);
  }

  takeDeposit(deposit: Deposit): DepositAnswer | Refused {
    const buffer = this.buffer(deposit.ctx);
    const ticket = this.persist(buffer, acceptDeposit(this.ports, buffer, deposit, this.world.now));
    if ('kind' in ticket) return ticket;
    return { ticket, inbox: this.inbox(deposit.ctx, ticket.slot) };
  }

  upload(bytes: Uint8Array): { readonly kind: 'accepted' } | Refused {
    const { header: headerBytes, bodyStart } = unframeHeader(bytes, 4096);
    const header = authorityMessages(this.world.policy.bufferSize).uploadHeader.decode(headerBytes);
    return this.takeUpload(header, bytes.slice(bodyStart));
  }

  takeUpload(header: UploadHeader, body: Uint8Array): { readonly kind: 'accepted' } | Refused {
    const buffer = this.buffer(header.ctx);
    const verdict = judgeHeader(this.ports, buffer, header, this.world.now);
    if (verdict.kind === 'refused') return verdict;
    const received: ReceivedBody = {
      hash: this.ports.suite.sha256(body),
      bytes: body.length,
      isCanonical: unpackBody(buffer.descriptor, body).kind === 'vector',
    };
    const sealed = sealedIn(this.world.sealings, buffer.descriptor);
    const step = acceptUpload(this.ports, buffer, header, received, sealed, this.world.now);
    // The body is in the store before the record that relies on it.
    if (step.records.length > 0) this.keepBody(header.ctx, header.slot, body);
    return this.persist(buffer, step);
  }

  tick(): void {
    for (const buffer of this.buffers.values()) this.persist(buffer, tickBuffer(buffer, this.world.now));
  }

  freeze(ctx: Ctx, why: FreezeReason = 'resolved'): { readonly accepted: readonly Slot[] } | Refused {
    return this.persist(this.buffer(ctx), freezeBuffer(this.buffer(ctx), why, this.world.now));
  }

  /** Freezes, closes, opens, judges and applies the buffer; returns its verdict. */
  finish(ctx: Ctx, why: FreezeReason = 'resolved'): SumVerdict {
    this.world.call('freeze', () => granted(this.freeze(ctx, why)));
    return this.world.call('finish', () => this.#closeAndOpen(ctx));
  }

  #closeAndOpen(ctx: Ctx): SumVerdict {
    const grant = this.#council.close(this.buffer(ctx));
    granted(this.persist(this.buffer(ctx), recordGrant(this.buffer(ctx), grant)));
    const keys = grant.answers.map(({ authority, answer }) => ({ authority, keys: answer.keys }));
    const verdict = this.openSum(ctx, keys);
    if (verdict.kind === 'quarantine') {
      granted(this.persist(this.buffer(ctx), recordQuarantine(this.buffer(ctx), verdict.why, [])));
      return verdict;
    }
    this.#apply(ctx, verdict);
    return verdict;
  }

  openSum(ctx: Ctx, keys: OpeningInput['keys']): SumVerdict {
    const stored = { deposits: this.deposits(ctx), bodyOf: (slot: Slot) => this.#body(ctx, slot) };
    return openStored(this.world, this.buffer(ctx), stored, keys);
  }

  /** Returns y of a slot from the store. */
  vector(ctx: Ctx, slot: Slot): Uint32Array {
    return vectorIn(this.buffer(ctx).descriptor, this.#body(ctx, slot));
  }

  /** The model is durable before its hash is logged; "included" is recorded with the sum. A repeat finds it there. */
  #apply(ctx: Ctx, { sum, weightSum }: Extract<SumVerdict, { kind: 'good' }>): void {
    const buffer = this.buffer(ctx);
    if (buffer.status === 'included') return;
    const mean = dequantizeSum(sum, buffer.descriptor, { weightSum, weightScale: buffer.descriptor.weightScale });
    const known = this.models.findIndex((model) => equalBytes(model.ctx, ctx));
    const version = known >= 0 ? known : this.models.length;
    if (known < 0) {
      const users = buffer.accepted.length;
      // Only for tests, so that it costs nothing in measured runs.
      const model = {
        version,
        ctx,
        get sum() {
          return Array.from(mean, (value) => Math.round(value * users));
        },
      };
      this.models.push(model);
    }
    const entry = this.world.call('append', () => this.appendModel(version, ctx));
    granted(this.persist(buffer, recordIncluded(buffer, entry.version)));
  }

  appendModel(version: number, ctx: Ctx): ModelEntry {
    const closed = version === 0 ? [] : votesFor(this.ports, this.buffer(ctx));
    const modelHash = this.ports.suite.sha256(this.modelBytes(version));
    const sums = version === 0 ? [] : [ctx];
    const entry = this.logModel({ task: this.world.task, version, modelHash, sums, spoilt: [], closed });
    if (version === 0) this.models = [{ version: 0, ctx, sum: [] }];
    return entry;
  }

  /** Has the entry signed by enough authorities and adds it to the log. */
  logModel(body: Omit<ModelAppend, 'signature'>): ModelEntry {
    return this.#council.append(body);
  }

  tryLogModel(body: Omit<ModelAppend, 'signature'>): ModelEntry | Refused {
    return this.#council.tryAppend(body);
  }

  /** The bytes that are logged as the model of a version: here only its number. */
  modelBytes(version: number): Uint8Array {
    return Uint8Array.of(version);
  }

  abort(ctx: Ctx): void {
    granted(this.persist(this.buffer(ctx), recordAbort(this.ports, this.buffer(ctx), outcomesOf(this.world, ctx))));
  }

  /** Leases are extended by the downtime. */
  restart(downtimeMs = 0): void {
    this.buffers = new Map();
    this.seats = new Map();
    this.world.now = millis(this.world.now + downtimeMs);
    for (const { records, ...drawn } of this.stored.values()) {
      const buffer = restoreSecureBuffer(this.ports.suite, drawn, records);
      this.#keep(buffer);
      if (downtimeMs > 0) this.persist(buffer, extendLeases(buffer, downtimeMs));
    }
  }

  deposits(ctx: Ctx): Deposit[] {
    const records = this.stored.get(toHex(ctx))?.records ?? [];
    return records.flatMap((entry) => (entry.kind === 'deposited' ? [entry.deposit] : []));
  }

  /** Returns the seeds that earlier deposits sealed to the slot; filed when they came, with the proofs. */
  inbox(ctx: Ctx, slot: Slot): readonly InboxEntry[] {
    const records = this.stored.get(toHex(ctx))?.records ?? [];
    return records.flatMap((entry) => {
      if (entry.kind !== 'deposited' || entry.slot.ticket.slot >= slot) return [];
      const outbox = this.#outboxes.get(entry) ?? outboxOf(this.ports.suite, entry.deposit, entry.slot.ticket);
      this.#outboxes.set(entry, outbox);
      return outbox[slot - entry.slot.ticket.slot - 1] ?? [];
    });
  }

  /** The messages of the newest buffer. */
  get messages(): UserMessages {
    const newest = [...this.buffers.values()].at(-1)?.descriptor;
    return userMessages(this.world.policy.bufferSize, sealedIn(this.world.sealings, newest));
  }

  keepBody(ctx: Ctx, slot: Slot, body: Uint8Array): void {
    this.bodies.set(slotName(ctx, slot), body);
  }

  /** The bodies of a buffer, by slot. */
  bodiesOf(ctx: Ctx): ReadonlyMap<Slot, Uint8Array> {
    const found = new Map<Slot, Uint8Array>();
    for (const { ticket } of this.buffer(ctx).slots) {
      const body = this.bodies.get(slotName(ctx, ticket.slot));
      if (body !== undefined) found.set(ticket.slot, body);
    }
    return found;
  }

  #body(ctx: Ctx, slot: Slot): Uint8Array {
    const body = this.bodies.get(slotName(ctx, slot));
    if (body === undefined) throw new Error('no body');
    return body;
  }

  persist<Answer>(buffer: SecureBuffer, { state, records, answer }: BufferStep<Answer>): Answer | Refused {
    const stored = this.stored.get(toHex(buffer.ctx))?.records;
    for (const entry of records) {
      stored?.push(entry);
      this.world.persisted('server');
    }
    this.#keep(state);
    return answer;
  }

  #keep(buffer: SecureBuffer): void {
    this.buffers.set(toHex(buffer.ctx), buffer);
  }
}

function slotName(ctx: Ctx, slot: Slot): string {
  return `${toHex(ctx)}:${slot}`;
}
