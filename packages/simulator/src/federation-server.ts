/** The server of a federation: the real cores, and a store that holds records, deposits and bodies. */
import type { Signer } from '@basa/masking';
import { addInPlace, dequantizeSum, equalBytes, toHex, unpackVector } from '@basa/masking';
import type {
  BufferRecord,
  BufferRequest,
  BufferStep,
  Certificate,
  Coordinator,
  Ctx,
  Deposit,
  Descriptor,
  DrawnBuffer,
  FreezeReason,
  InboxEntry,
  ModelEntry,
  ReceivedBody,
  Refused,
  SecureBuffer,
  ServerPorts,
  Slot,
  SumVerdict,
  UserMessages,
} from '@basa/protocol';
import {
  acceptDeposit,
  acceptUpload,
  agreedOn,
  authorityMessages,
  bufferRequestCodec,
  closeSteps,
  createCoordinator,
  descriptorCodec,
  ENGINE,
  extendLeases,
  freezeBuffer,
  giveSeat,
  isDrawn,
  isRefused,
  judgeHeader,
  judgeSum,
  listsOf,
  millis,
  modelAppendCodec,
  modelEntryCodec,
  offerRequestCodec,
  openingTerms,
  openSecureBuffer,
  outboxOf,
  prefixElements,
  readSealedParts,
  recordAbort,
  recordGrant,
  recordIncluded,
  recordQuarantine,
  restoreSecureBuffer,
  sealedBytesOf,
  tickBuffer,
  trackBuffer,
  unframeHeader,
  uploadLayout,
  userMessages,
  votesFor,
} from '@basa/protocol';
import { granted } from './granted.ts';
import type { AuthorityPeer, ServerPeer, World } from './world.ts';
import { outcomesOf } from './world.ts';

interface StoredBuffer extends DrawnBuffer {
  readonly records: BufferRecord[];
}

/** How long a seat waits for its deposit. */
export const SEAT_MS = 500;

export class FederationServer implements ServerPeer {
  readonly world: World;
  readonly ports: ServerPorts;
  /** On disk. */
  readonly stored = new Map<string, StoredBuffer>();
  readonly bodies = new Map<string, Uint8Array>();
  /** w^t as what was summed into it: one-hot inputs make it its own witness. */
  models: { readonly version: number; readonly ctx: Ctx; readonly sum: number[] }[] = [];
  /** In memory. */
  buffers = new Map<string, SecureBuffer>();
  coordinator: Coordinator = createCoordinator(SEAT_MS);
  /** The last entry of the model log that enough authorities signed. */
  #newest: ModelEntry | undefined;
  readonly #outboxes = new WeakMap<BufferRecord, readonly InboxEntry[]>();

  constructor(world: World, signer: Signer) {
    this.world = world;
    this.ports = { suite: world.environment.tools.suite, signer };
  }

  buffer(ctx: Ctx): SecureBuffer {
    const buffer = this.buffers.get(toHex(ctx));
    if (buffer === undefined) throw new Error('no such buffer');
    return buffer;
  }

  /** Hands out a seat; draws another buffer where all are taken. */
  seat(certificate: Certificate): DrawnBuffer | Refused {
    for (;;) {
      const { coordinator, answer } = giveSeat(
        this.ports,
        this.coordinator,
        { task: this.world.task, ...this.world.policy },
        certificate,
        this.world.now,
      );
      this.coordinator = coordinator;
      if (answer.kind === 'refused') return answer;
      if (answer.kind === 'seated') return this.buffer(answer.ctx);
      this.drawBuffer();
    }
  }

  drawBuffer(): Ctx {
    const drawn = this.world.authorities.length === 1 ? this.#drawnAlone() : this.#drawnTogether();
    const buffer = openSecureBuffer(this.ports.suite, drawn);
    this.stored.set(toHex(buffer.ctx), { ...drawn, records: [] });
    this.#keep(buffer);
    return buffer.ctx;
  }

  #drawnAlone(): DrawnBuffer {
    const bytes = this.#bufferRequest([]);
    return granted(this.world.call('draw', () => this.world.authority.drawBuffer(bytes)));
  }

  /** Of the offers of all authorities that are there. */
  #drawnTogether(): DrawnBuffer {
    const { world } = this;
    const asked = { task: world.task };
    const request = offerRequestCodec.encode({
      ...asked,
      signature: this.ports.signer.sign(offerRequestCodec.statement(asked)),
    });
    const offers = this.#ofAll('offer', (authority) => authority.offer(request)).map(({ answer }) => answer);
    const newest = this.#newest;
    if (newest === undefined) throw new Error('no model is logged');
    const expiry = millis(world.now + world.policy.openMs);
    const bytes = this.#bufferRequest([{ parts: offers.map(({ part }) => part), newest, expiry }]);
    const drawn = this.#ofAll('draw', (authority) => authority.drawBuffer(bytes)).map(
      ({ answer }) => answer.descriptor,
    );
    const descriptor = agreedOn(descriptorCodec, world.policy, drawn);
    if (descriptor === undefined || !isDrawn(this.ports.suite, world.policy, descriptor))
      throw new Error('the authorities did not all sign the buffer that they offered parts for');
    return { descriptor, slotKeys: listsOf(offers) };
  }

  #bufferRequest(plan: BufferRequest['plan']): Uint8Array {
    const body = { task: this.world.task, nonce: this.world.randomBytes(16), plan };
    return bufferRequestCodec.encode({
      ...body,
      signature: this.ports.signer.sign(bufferRequestCodec.statement(body)),
    });
  }

  #sealedIn(descriptor: Descriptor | undefined): { readonly sealedBytes: number } {
    const { engine, sealing } = this.world.sealings;
    if (engine !== ENGINE.slotKeys || descriptor === undefined) return sealing;
    return { sealedBytes: sealedBytesOf(engine, descriptor.parts.length) ?? sealing.sealedBytes };
  }

  /** What the authorities answer; without those that are away or say no, unless nobody is left. */
  #ofAll<Answer extends object>(
    step: string,
    ask: (authority: AuthorityPeer) => Answer | Refused,
  ): readonly { readonly authority: number; readonly answer: Answer }[] {
    let no: Refused | undefined;
    const answers = this.world.authorities.flatMap((authority, index) => {
      if (this.world.isAway?.(index)) return [];
      const answer = this.world.call(step, () => ask(authority));
      if (!isRefused(answer)) return [{ authority: index, answer }];
      no = answer;
      return [];
    });
    if (answers.length === 0 && no !== undefined) granted(no);
    return answers;
  }

  deposit(bytes: Uint8Array): Uint8Array | Refused {
    const deposit = this.messages.deposit.decode(bytes);
    const buffer = this.buffer(deposit.ctx);
    const ticket = this.persist(buffer, acceptDeposit(this.ports, buffer, deposit, this.world.now));
    if ('kind' in ticket) return ticket;
    return this.messages.depositAnswer.encode({ ticket, inbox: this.inbox(deposit.ctx, ticket.slot) });
  }

  upload(bytes: Uint8Array): { readonly kind: 'accepted' } | Refused {
    const { header: headerBytes, bodyStart } = unframeHeader(bytes, 4096);
    const header = authorityMessages(this.world.policy.bufferSize).uploadHeader.decode(headerBytes);
    const buffer = this.buffer(header.ctx);
    const verdict = judgeHeader(this.ports, buffer, header, this.world.now);
    if (verdict.kind === 'refused') return verdict;
    const body = bytes.slice(bodyStart);
    const layout = uploadLayout(buffer.descriptor, header, this.#sealedIn(buffer.descriptor));
    const unpacked = unpackVector(body.subarray(0, layout.vectorBytes), layout.elements, buffer.descriptor.modulus);
    const received: ReceivedBody = {
      hash: this.ports.suite.sha256(body),
      bytes: body.length,
      isCanonical: unpacked.kind === 'vector',
    };
    const step = acceptUpload(this.ports, buffer, header, received, this.#sealedIn(buffer.descriptor), this.world.now);
    // The body lies in the store before the record that counts on it.
    if (step.records.length > 0) this.bodies.set(slotName(header.ctx, header.slot), body);
    return this.persist(buffer, step);
  }

  tick(): void {
    for (const buffer of this.buffers.values()) this.persist(buffer, tickBuffer(buffer, this.world.now));
  }

  freeze(ctx: Ctx, why: FreezeReason = 'resolved'): { readonly accepted: readonly Slot[] } | Refused {
    return this.persist(this.buffer(ctx), freezeBuffer(this.buffer(ctx), why, this.world.now));
  }

  /** Freezes, closes, opens, judges and applies; what becomes of the buffer. */
  finish(ctx: Ctx, why: FreezeReason = 'resolved'): SumVerdict {
    this.world.call('freeze', () => granted(this.freeze(ctx, why)));
    return this.world.call('finish', () => this.#closeAndOpen(ctx));
  }

  #closeAndOpen(ctx: Ctx): SumVerdict {
    const { closeRequest } = authorityMessages(this.world.policy.bufferSize);
    const steps = closeSteps(this.ports, this.buffer(ctx));
    let next = steps.next();
    while (next.done !== true) {
      const bytes = closeRequest.encode(next.value);
      next = steps.next(this.#ofAll('close', (authority) => authority.close(bytes)));
    }
    const grant = granted(next.value);
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

  openSum(ctx: Ctx, keys: Parameters<typeof openingTerms>[0]['keys']): SumVerdict {
    const buffer = this.buffer(ctx);
    const { sealing } = this.world.sealings;
    const opening = openingTerms({
      suite: this.ports.suite,
      sealing,
      buffer,
      keys,
      deposits: this.deposits(ctx),
      uploadOf: (slot) => {
        const header = buffer.slots[slot]?.header;
        if (header === undefined) throw new Error('no header');
        return {
          header,
          ...readSealedParts(
            this.#body(ctx, slot),
            uploadLayout(buffer.descriptor, header, this.#sealedIn(buffer.descriptor)),
          ),
        };
      },
    });
    if (opening.kind === 'cheated') return { kind: 'quarantine', why: `slots ${opening.slots} cheated` };
    const { modulus, dimension } = buffer.descriptor;
    const total = new Uint32Array(dimension + prefixElements(buffer.descriptor));
    for (const slot of buffer.accepted)
      addInPlace(total, this.vector(ctx, slot), modulus, this.world.environment.tools.kernel);
    this.world.mask(total, { modulus, salt: ctx, terms: opening.terms });
    return judgeSum(buffer.descriptor, total, buffer.accepted.length);
  }

  /** y of a slot, as it lies in the store. */
  vector(ctx: Ctx, slot: Slot): Uint32Array {
    const { descriptor } = this.buffer(ctx);
    const layout = uploadLayout(descriptor, { slot: 0 as Slot, voids: [] }, this.#sealedIn(descriptor));
    const unpacked = unpackVector(
      this.#body(ctx, slot).subarray(0, layout.vectorBytes),
      layout.elements,
      descriptor.modulus,
    );
    if (unpacked.kind === 'malformed') throw new Error(unpacked.problem);
    return unpacked.vector;
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
      // For tests alone: a run that is measured does not pay for it.
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
    const { task, policy } = this.world;
    const closed = version === 0 ? [] : votesFor(this.ports, this.buffer(ctx));
    const body = { task, version, modelHash: this.ports.suite.sha256(Uint8Array.of(version)), ctx, closed };
    const append = { ...body, signature: this.ports.signer.sign(modelAppendCodec.statement(body)) };
    const signed = this.#ofAll('append', (authority) => authority.appendModel(modelAppendCodec.encode(append)));
    const entry = agreedOn(
      modelEntryCodec,
      policy,
      signed.map(({ answer }) => answer),
    );
    if (entry === undefined) throw new Error('too few authorities signed the model');
    if (policy.threshold > 1) this.#ofAll('adopt', (authority) => authority.adoptModel(modelEntryCodec.encode(entry)));
    this.#newest = entry;
    if (version === 0) this.models = [{ version: 0, ctx, sum: [] }];
    return entry;
  }

  abort(ctx: Ctx): void {
    granted(this.persist(this.buffer(ctx), recordAbort(this.ports, this.buffer(ctx), outcomesOf(this.world, ctx))));
  }

  /** Leases are longer by the downtime. */
  restart(downtimeMs = 0): void {
    this.buffers = new Map();
    this.coordinator = createCoordinator(500);
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

  /** What earlier deposits sealed to the slot; filed when they came, with the proofs. */
  inbox(ctx: Ctx, slot: Slot): readonly InboxEntry[] {
    const records = this.stored.get(toHex(ctx))?.records ?? [];
    return records.flatMap((entry) => {
      if (entry.kind !== 'deposited' || entry.slot.ticket.slot >= slot) return [];
      const outbox = this.#outboxes.get(entry) ?? outboxOf(this.ports.suite, entry.deposit, entry.slot.ticket);
      this.#outboxes.set(entry, outbox);
      return outbox[slot - entry.slot.ticket.slot - 1] ?? [];
    });
  }

  /** Of the newest buffer: seeds are longer where more authorities have a part in it. */
  get messages(): UserMessages {
    const newest = [...this.buffers.values()].at(-1)?.descriptor;
    return userMessages(this.world.policy.bufferSize, this.#sealedIn(newest));
  }

  #body(ctx: Ctx, slot: Slot): Uint8Array {
    const body = this.bodies.get(slotName(ctx, slot));
    if (body === undefined) throw new Error('no body');
    return body;
  }

  persist<Answer>(buffer: SecureBuffer, { state, records, answer }: BufferStep<Answer>): Answer | Refused {
    this.stored.get(toHex(buffer.ctx))?.records.push(...records);
    this.#keep(state);
    for (const _ of records) this.world.persisted('server');
    return answer;
  }

  #keep(buffer: SecureBuffer): void {
    this.buffers.set(toHex(buffer.ctx), buffer);
    this.coordinator = trackBuffer(this.coordinator, buffer);
  }
}

function slotName(ctx: Ctx, slot: Slot): string {
  return `${toHex(ctx)}:${slot}`;
}
