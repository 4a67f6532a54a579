/**
 * One run: users, buffers and a server that may lie. Every decision of users and authority, and of the server where it
 * keeps to the protocol, is made by the real core; messages pass as objects, since the codecs have tests of their own.
 */
import { equalBytes } from '@basa/masking';
import {
  acceptDeposit,
  acceptUpload,
  allSteps,
  authorityMessages,
  type BufferClosed,
  type BufferStep,
  bodyHashOf,
  bufferRequestCodec,
  type CloseAnswer,
  type CloseRequest,
  type Ctx,
  type Deposit,
  type DepositAnswer,
  joinTagOf,
  type KeyAnswer,
  type KeyRequest,
  type ModelEntry,
  type Outcome,
  openSecureBuffer,
  outboxOf,
  type Pins,
  type Refused,
  type SecureBuffer,
  type ServerPorts,
  type SignedDescriptor,
  type Slot,
  type Ticket,
  ticketCodec,
  uploadLayout,
  viewsOf,
  withPolicy,
} from '@basa/protocol';
import { granted } from '@basa/simulator';
import { keysAlone } from '../one-authority.ts';
import { type Bench, type BufferShape, START } from './bench.ts';
import { OracleUser, type SentUpload } from './oracle-user.ts';
import { Trace } from './trace.ts';

/** A deposit as the server can tell of it: the message, and the tag it says it has. */
export interface Source {
  readonly deposit: Deposit;
  readonly joinTag: Ticket['joinTag'];
  readonly user: OracleUser['user'];
  /** What it sealed to later slots, with proofs, once it was asked for. */
  outbox?: { readonly slot: number; readonly entries: DepositAnswer['inbox'] };
}

/** What the server keeps of one buffer. */
export interface Ledger {
  buffer: SecureBuffer;
  readonly sources: Source[];
  /** Uploads by the tag of their sender, accepted or not. */
  readonly uploads: SentUpload[];
}

export class OracleWorld {
  readonly bench: Bench;
  readonly trace = new Trace();
  readonly shape: BufferShape;
  readonly pins: Pins;
  readonly serverPorts: ServerPorts;
  readonly users: OracleUser[] = [];
  readonly ledgers: Ledger[] = [];
  /** What the server told of deposits, true or not, newest last. */
  readonly stories: (readonly Source[])[] = [];
  now = START;
  readonly #draw: (length: number) => Uint8Array;

  constructor(bench: Bench, shape: BufferShape) {
    this.bench = bench;
    this.shape = shape;
    this.pins = { policy: bench.task(shape).policy };
    this.serverPorts = { suite: bench.suite, signer: bench.serverSigner };
    this.#draw = bench.randomBytes((name) => this.trace.knows(name));
  }

  /** Random bytes of the server: seeds among them are known to the adversary. */
  serverBytes(length: number): Uint8Array {
    return this.#draw(length);
  }

  newUser(isHonest: boolean): OracleUser {
    const user = this.aliasOf({ number: this.users.length, isHonest });
    this.users.push(user);
    return user;
  }

  /** The same device once more, with sessions of its own: for a colluder that wants two slots. */
  aliasOf(options: { readonly number: number; readonly isHonest: boolean }): OracleUser {
    const signer = this.bench.signer('device', options.number);
    const certificate = this.bench.certificate(this.bench.task(this.shape).task, signer);
    return new OracleUser(this.bench, this.trace, this.pins, certificate, options);
  }

  /** Colluders are few enough that every set of `minimum` users holds two honest ones. */
  get isWithinBound(): boolean {
    return this.users.filter(({ isHonest }) => !isHonest).length <= this.shape.minimum - 2;
  }

  drawBuffer(): Ledger {
    const { bench } = this;
    const { task } = bench.task(this.shape);
    const model = bench.authority.newestModel(task) as ModelEntry;
    const body = { task, nonce: this.serverBytes(16), model, newest: model, plan: [] };
    const request = { ...body, signature: bench.serverSigner.sign(bufferRequestCodec.statement(body)) };
    const { issuer } = bench.sealings;
    const offer = this.serverBytes(16);
    const slotKeys = allSteps(issuer.slotKeys({ task: body.task, offer, bufferSize: this.shape.bufferSize }));
    const fresh = { offer, sealingKey: issuer.sealingKey(slotKeys) };
    const signed = granted(bench.persist(bench.authority.drawBuffer(request, fresh, this.now)));
    const descriptor = withPolicy(bench.task(this.shape).policy, signed);
    const buffer = openSecureBuffer(bench.suite, { descriptor, slotKeys });
    const ledger: Ledger = { buffer, sources: [], uploads: [] };
    this.ledgers.push(ledger);
    return ledger;
  }

  /** The honest server's answer to a deposit. */
  acceptDeposit(ledger: Ledger, deposit: Deposit): DepositAnswer | Refused {
    const before = ledger.buffer.slots.length;
    const ticket = keep(ledger, acceptDeposit(this.serverPorts, ledger.buffer, deposit, this.now));
    if ('kind' in ticket) return ticket;
    if (ledger.buffer.slots.length > before) {
      const { user } = ledger.buffer.slots[before] as SecureBuffer['slots'][number];
      ledger.sources.push({ deposit, joinTag: ticket.joinTag, user });
    }
    return { ticket, inbox: this.inboxOf(ledger.sources.slice(0, ticket.slot)) };
  }

  /** What the sources sealed to the slot after them, with proofs. */
  inboxOf(sources: readonly Source[]): DepositAnswer['inbox'] {
    return sources.flatMap((source, slot) => {
      if (source.outbox?.slot !== slot) {
        const { deposit, joinTag } = source;
        source.outbox = { slot, entries: outboxOf(this.bench.suite, deposit, { joinTag, slot: slot as Slot }) };
      }
      return source.outbox.entries[sources.length - slot - 1] ?? [];
    });
  }

  /** A story of the server: these deposits came before, and this one is next. True where it happened so. */
  tell(ctx: Ctx, before: readonly Source[], mine: Source, change: Partial<Ticket> = {}): DepositAnswer {
    this.stories.push([...before, mine]);
    const links = before.map(({ deposit, joinTag }) => ({ joinTag, root: deposit.root }));
    const view = viewsOf(this.bench.suite, ctx, links).at(-1) as Ticket['view'];
    const ticket = this.signedTicket({
      ctx,
      slot: before.length as Slot,
      joinTag: mine.joinTag,
      root: mine.deposit.root,
      view,
      deadline: (this.now + 1000) as Ticket['deadline'],
      ...change,
    });
    return { ticket, inbox: this.inboxOf(before) };
  }

  signedTicket(body: Omit<Ticket, 'signature'>): Ticket {
    return { ...body, signature: this.bench.serverSigner.sign(ticketCodec.statement(body)) };
  }

  /** The request reaches the authority. A colluder keeps the key it gets. */
  issueKey(request: KeyRequest): KeyAnswer | Refused {
    const { bench } = this;
    const answer = bench.persist(bench.authority.issueKey(request, this.now));
    if ('kind' in answer) return answer;
    const isOurs = this.users.some(
      ({ isHonest, signer }) => !isHonest && equalBytes(signer.publicKey, request.certificate.deviceKey),
    );
    if (isOurs) this.trace.gotKey(this.#edgeKey(request.ticket));
    return answer;
  }

  #edgeKey({ ctx, slot }: Pick<Ticket, 'ctx' | 'slot'>): Uint8Array {
    const { authority, sealings } = this.bench;
    const buffer = authority.buffer(ctx);
    if (buffer === undefined) throw new Error('a key of no buffer');
    return sealings.issuer.keysOf(keysAlone(buffer)).edge(slot);
  }

  /** Keeps an upload, and takes it in as the honest server would. `isWhole` is false where the body was cut short. */
  acceptUpload(ledger: Ledger, upload: SentUpload, isWhole = true): { readonly kind: 'accepted' } | Refused {
    ledger.uploads.push(upload);
    const { suite } = this.bench;
    const { sealing } = this.bench.sealings;
    const { bodyBytes } = uploadLayout(ledger.buffer.descriptor, upload.header, sealing);
    const body = isWhole ? upload.body : upload.body.subarray(1);
    const received = {
      hash: bodyHashOf(suite, body, upload.parts),
      bytes: isWhole ? bodyBytes : bodyBytes - 1,
      isCanonical: true,
    };
    return keep(ledger, acceptUpload(this.serverPorts, ledger.buffer, upload.header, received, sealing, this.now));
  }

  /** A close that tells this story, with every header the server holds of it. */
  closeTelling({ buffer: { ctx }, uploads }: Ledger, story: readonly Source[]): CloseRequest {
    const headers = story.flatMap(({ joinTag }, slot) => {
      const sent = uploads.find(({ header }) => header.slot === slot && equalBytes(header.joinTag, joinTag));
      return sent === undefined ? [] : [sent.header];
    });
    return this.signedClose({
      ctx,
      deposits: story.map(({ user, deposit: { certificate, nonce, root, signature } }) => ({
        // A forged deposit is told under the name of its victim.
        deviceKey: this.users.find((known) => equalBytes(known.user, user))?.signer.publicKey ?? certificate.deviceKey,
        nonce,
        root,
        signature,
      })),
      accepted: headers.map(({ slot }) => slot),
      headers,
      votes: [],
    });
  }

  signedClose(body: Omit<CloseRequest, 'signature'>): CloseRequest {
    const { closeRequest } = authorityMessages(this.shape.bufferSize);
    return { ...body, signature: this.bench.serverSigner.sign(closeRequest.statement(body)) };
  }

  /** The server asks the authority to close; the keys it gets are the adversary's. */
  close(request: CloseRequest): CloseAnswer | Refused {
    const { bench } = this;
    const from = bench.log.length;
    const answer = bench.persist(bench.authority.close(request, this.now));
    for (const entry of bench.log.slice(from)) {
      if (entry.kind === 'buffer-closed') this.#recordClosing(entry);
    }
    if ('keys' in answer) for (const { key } of answer.keys) this.trace.gotKey(key);
    return answer;
  }

  outcome(ctx: Ctx): Outcome {
    return granted(this.bench.persist(this.bench.authority.outcome(ctx, this.now)));
  }

  #recordClosing({ ctx, accepted, withheld }: BufferClosed): void {
    const senders = accepted.map(({ slot, joinTag }) => {
      const named = this.#senders.filter((sent) => equalBytes(sent.joinTag, joinTag));
      // Two of one name only where a rule is missing.
      return named.find(({ user }) => user.slot === slot) ?? named[0];
    });
    const inputs = [...new Set(senders.flatMap((sender) => sender?.input ?? []))];
    const honest = new Set(senders.flatMap((sender) => (sender?.input === undefined ? [] : sender.user.number)));
    const isEnough = accepted.length >= this.shape.minimum && (!this.isWithinBound || honest.size >= 2);
    this.trace.closed({ ctx, inputs, isEnough, isWithheld: withheld.length > 0 });
  }

  tagOf(ctx: Ctx, { user }: OracleUser, nonce: Uint8Array): Ticket['joinTag'] {
    return joinTagOf(this.bench.suite, { ctx, user, nonce });
  }

  isOf(source: Source, { user }: OracleUser): boolean {
    return equalBytes(source.user, user);
  }

  isDrawn({ parts }: SignedDescriptor, { buffer }: Ledger): boolean {
    const [theirs, ours] = [parts[0]?.offer, buffer.descriptor.parts[0]?.offer];
    return theirs !== undefined && ours !== undefined && equalBytes(theirs, ours);
  }

  /** Who stands behind a tag, and with which input. */
  readonly #senders: { joinTag: Ticket['joinTag']; user: OracleUser; input: number | undefined }[] = [];

  /** Remembers, for the trace alone, whose deposit this is. */
  remember(user: OracleUser): void {
    const joinTag = user.session?.member.joinTag;
    if (joinTag === undefined) return;
    if (this.#senders.some((sent) => sent.user === user && equalBytes(sent.joinTag, joinTag))) return;
    this.#senders.push({ joinTag, user, input: user.isHonest ? user.update.symbol : undefined });
  }
}

/** Takes in what a step of the buffer has become. */
export function keep<Answer>(ledger: Ledger, { state, answer }: BufferStep<Answer>): Answer | Refused {
  ledger.buffer = state;
  return answer;
}
