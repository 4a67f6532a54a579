/**
 * One run: users, buffers and a server that may lie, in a symbolic federation. Every decision of users and authority,
 * and of the server as far as it follows the protocol, is made by the real core; messages pass as objects, because the
 * codecs have their own tests.
 */
import { equalBytes } from '@basa/masking';
import {
  AttributeAuthority,
  authorityMessages,
  type BufferClosed,
  type CloseAnswer,
  type CloseRequest,
  type Ctx,
  type Deposit,
  type DepositAnswer,
  type Head,
  joinTagOf,
  type KeyAnswer,
  type KeyRequest,
  type Outcome,
  outboxOf,
  type Refused,
  type SecureBuffer,
  type SignedDescriptor,
  type Slot,
  type Ticket,
  ticketCodec,
  viewsOf,
} from '@basa/protocol';
import type { Federation, FederationAuthority, FederationServer } from '@basa/simulator';
import { keysAlone } from '../world/one-authority.ts';
import type { BufferShape, Federations, SharedFederation } from './federations.ts';
import { Ledger, type Source } from './ledger.ts';
import { nameOfSeed, Trace } from './trace.ts';
import { type SentUpload, WatchedDevice } from './watched-device.ts';

export class OracleWorld {
  readonly federation: Federation;
  readonly trace = new Trace();
  readonly shape: BufferShape;
  readonly users: WatchedDevice[] = [];
  readonly ledgers: Ledger[] = [];
  /** The server's statements about deposits, true or not, newest last. */
  readonly stories: (readonly Source[])[] = [];
  readonly #shared: SharedFederation;

  constructor(federations: Federations, shape: BufferShape) {
    this.shape = shape;
    this.#shared = federations.of(shape);
    this.federation = this.#shared.federation;
    this.federation.now = this.#shared.start;
  }

  get server(): FederationServer {
    return this.federation.server;
  }

  get authority(): FederationAuthority {
    return this.federation.authority;
  }

  /** Random bytes of the server: the adversary knows the seeds among them. */
  serverBytes(length: number): Uint8Array {
    const bytes = this.federation.randomBytes(length);
    this.trace.knows(nameOfSeed(bytes));
    return bytes;
  }

  newUser(isHonest: boolean): WatchedDevice {
    const { federation, enrolled } = this.#shared;
    const number = this.users.length;
    const known = enrolled[number] ?? { signer: federation.signer(), certificate: undefined };
    const user = new WatchedDevice(federation, this.trace, { number, isHonest, ...known });
    enrolled[number] = user;
    this.users.push(user);
    return user;
  }

  /** The same device once more, with its own sessions: for a colluder that wants two slots. */
  aliasOf({ number, isHonest, signer, certificate }: WatchedDevice): WatchedDevice {
    return new WatchedDevice(this.federation, this.trace, { number, isHonest, signer, certificate });
  }

  /** There are few enough colluders that every set of `minimum` users holds two honest ones. */
  get isWithinBound(): boolean {
    return this.users.filter(({ isHonest }) => !isHonest).length <= this.shape.minimum - 2;
  }

  drawBuffer(): Ledger {
    const ledger = new Ledger(this.server, this.server.drawBuffer());
    this.ledgers.push(ledger);
    return ledger;
  }

  /** The honest server's answer to a deposit. */
  acceptDeposit(ledger: Ledger, deposit: Deposit): DepositAnswer | Refused {
    const before = ledger.buffer.slots.length;
    const answer = this.server.takeDeposit(deposit);
    if ('kind' in answer) return answer;
    const { slots } = ledger.buffer;
    if (slots.length > before) {
      const { user } = slots[before] as SecureBuffer['slots'][number];
      ledger.sources.push({ deposit, joinTag: answer.ticket.joinTag, user });
    }
    return answer;
  }

  /** The seeds that the sources sealed to the slot after them, with proofs. */
  inboxOf(sources: readonly Source[]): DepositAnswer['inbox'] {
    return sources.flatMap((source, slot) => {
      if (source.outbox?.slot !== slot) {
        const { deposit, joinTag } = source;
        source.outbox = { slot, entries: outboxOf(this.server.ports.suite, deposit, { joinTag, slot: slot as Slot }) };
      }
      return source.outbox.entries[sources.length - slot - 1] ?? [];
    });
  }

  /** A story of the server: these deposits came before, and this one is next. It is true if that happened. */
  tell(ctx: Ctx, before: readonly Source[], mine: Source, change: Partial<Ticket> = {}): DepositAnswer {
    this.stories.push([...before, mine]);
    const links = before.map(({ deposit, joinTag }) => ({ joinTag, root: deposit.root }));
    const view = viewsOf(this.server.ports.suite, ctx, links).at(-1) as Ticket['view'];
    const ticket = this.signedTicket({
      ctx,
      slot: before.length as Slot,
      joinTag: mine.joinTag,
      root: mine.deposit.root,
      view,
      deadline: (this.federation.now + 1000) as Ticket['deadline'],
      ...change,
    });
    return { ticket, inbox: this.inboxOf(before) };
  }

  signedTicket(body: Omit<Ticket, 'signature'>): Ticket {
    return { ...body, signature: this.server.ports.signer.sign(ticketCodec.statement(body)) };
  }

  /** The request reaches the authority. A colluder keeps the key it gets. */
  issueKey(request: KeyRequest): KeyAnswer | Refused {
    const answer = this.authority.takeKeyRequest(request);
    if ('kind' in answer) return answer;
    const isOurs = this.users.some(
      ({ isHonest, signer }) => !isHonest && equalBytes(signer.publicKey, request.certificate.deviceKey),
    );
    if (isOurs) this.trace.gotKey(this.#edgeKey(request.ticket));
    return answer;
  }

  #edgeKey({ ctx, slot }: Pick<Ticket, 'ctx' | 'slot'>): Uint8Array {
    const buffer = this.authority.core.buffer(ctx);
    if (buffer === undefined) throw new Error('a key of no buffer');
    return this.federation.sealings.issuer.keysOf(keysAlone(buffer)).edge(slot);
  }

  /** Keeps an upload, and accepts it as the honest server would. `isWhole` is false if the body was cut short. */
  acceptUpload(ledger: Ledger, upload: SentUpload, isWhole = true): { readonly kind: 'accepted' } | Refused {
    ledger.uploads.push(upload);
    return this.server.takeUpload(upload.header, isWhole ? upload.body : upload.body.subarray(1));
  }

  /** A close that tells this story, with every header the server holds of it. */
  closeTelling({ ctx, uploads }: Ledger, story: readonly Source[]): CloseRequest {
    const headers = story.flatMap(({ joinTag }, slot) => {
      const sent = uploads.find(({ header }) => header.slot === slot && equalBytes(header.joinTag, joinTag));
      return sent === undefined ? [] : [sent.header];
    });
    return this.signedClose({
      ctx,
      deposits: story.map(({ user, deposit: { certificate, nonce, root, signature } }) => ({
        // A forged deposit is reported with the name of its victim.
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
    return { ...body, signature: this.server.ports.signer.sign(closeRequest.statement(body)) };
  }

  /** The server asks the authority to close; the adversary gets the keys. */
  close(request: CloseRequest): CloseAnswer | Refused {
    const from = this.authority.log.length;
    const answer = this.authority.takeClose(request);
    for (const entry of this.authority.log.slice(from)) if (entry.kind === 'buffer-closed') this.#recordClosing(entry);
    if ('keys' in answer) for (const { key } of answer.keys) this.trace.gotKey(key);
    return answer;
  }

  outcome(ctx: Ctx): Outcome {
    return this.authority.outcome(ctx);
  }

  /** The authority's folder is reset to an old state, and it starts with the head that a witness kept, if any. */
  rollBack(length: number, witness?: Head): void {
    const { authority } = this;
    authority.log = authority.log.slice(0, length);
    if (witness === undefined) authority.core = AttributeAuthority.restore(authority.ports, authority.log);
    else {
      authority.witness = witness;
      authority.restart();
    }
  }

  #recordClosing({ ctx, accepted, withheld }: BufferClosed): void {
    const senders = accepted.map(({ slot, joinTag }) => {
      const named = this.#senders.filter((sent) => equalBytes(sent.joinTag, joinTag));
      // There are two of one name only if a rule is missing.
      return named.find(({ user }) => user.frozenSlot === slot) ?? named[0];
    });
    const inputs = [...new Set(senders.flatMap((sender) => sender?.input ?? []))];
    const honest = new Set(senders.flatMap((sender) => (sender?.input === undefined ? [] : sender.user.number)));
    const isEnough = accepted.length >= this.shape.minimum && (!this.isWithinBound || honest.size >= 2);
    this.trace.closed({ ctx, inputs, isEnough, isWithheld: withheld.length > 0 });
  }

  tagOf(ctx: Ctx, { user }: WatchedDevice, nonce: Uint8Array): Ticket['joinTag'] {
    return joinTagOf(this.server.ports.suite, { ctx, user, nonce });
  }

  isOf(source: Source, { user }: WatchedDevice): boolean {
    return equalBytes(source.user, user);
  }

  isDrawn({ parts }: SignedDescriptor, { buffer }: Ledger): boolean {
    const [theirs, ours] = [parts[0]?.offer, buffer.descriptor.parts[0]?.offer];
    return theirs !== undefined && ours !== undefined && equalBytes(theirs, ours);
  }

  /** The user behind each tag, and its input. */
  readonly #senders: { joinTag: Ticket['joinTag']; user: WatchedDevice; input: number | undefined }[] = [];

  /** Remembers, only for the trace, whose deposit this is. */
  remember(user: WatchedDevice): void {
    const joinTag = user.session?.member.joinTag;
    if (joinTag === undefined) return;
    if (this.#senders.some((sent) => sent.user === user && equalBytes(sent.joinTag, joinTag))) return;
    this.#senders.push({ joinTag, user, input: user.isHonest ? user.symbol : undefined });
  }
}
