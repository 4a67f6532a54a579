/** An authority of a federation: the real state machine, its log, and a witness of its head. */
import type { Signer } from '@basa/masking';
import {
  AttributeAuthority,
  type AuthorityMessages,
  type AuthorityPorts,
  type AuthorityRecord,
  type AuthorityStep,
  allSteps,
  authorityMessages,
  type BufferIssuer,
  type BufferPart,
  bufferRequestCodec,
  type Certificate,
  type CertificateBody,
  type CloseAnswer,
  type CloseRequest,
  type Ctx,
  certificateCodec,
  type DrawnBuffer,
  decodeAuthorityRecord,
  drawnBufferCodec,
  encodeAuthorityRecord,
  type FreshKeys,
  type Head,
  isRefused,
  type KeyAnswer,
  type KeyRequest,
  type ModelEntry,
  modelAppendCodec,
  modelEntryCodec,
  type NewestModel,
  newestModelCodec,
  type Offer,
  type Outcome,
  offerCodec,
  offerRequestCodec,
  outcomeCodec,
  type Refused,
} from '@basa/protocol';
import type { AuthorityPeer, AuthorityWorld } from './world.ts';

export class FederationAuthority implements AuthorityPeer {
  readonly world: AuthorityWorld;
  readonly ports: AuthorityPorts;
  /** The log on disk, and the head that the witness keeps. */
  log: AuthorityRecord[] = [];
  witness: Head | undefined;
  core: AttributeAuthority;

  readonly index: number;
  readonly #issuer: BufferIssuer;

  constructor(world: AuthorityWorld, signer: Signer, index = 0) {
    this.world = world;
    this.index = index;
    const { issuer, otherIssuers = [] } = world.sealings;
    const own = [issuer, ...otherIssuers][index];
    if (own === undefined) throw new RangeError(`there are no keys for authority ${index}`);
    this.#issuer = own;
    this.ports = { suite: world.environment.tools.suite, signer, issuerFor: () => own };
    this.core = new AttributeAuthority(this.ports);
  }

  get publicKey(): Uint8Array {
    return this.ports.signer.publicKey;
  }

  /** A draft, as the services use it: its additions become true when they are durable. */
  get #draft(): AttributeAuthority {
    return this.core.draft();
  }

  /** Returns the log as it is read back from its bytes. */
  get records(): AuthorityRecord[] {
    return this.log.map((entry) => decodeAuthorityRecord(encodeAuthorityRecord(entry)));
  }

  createTask(): void {
    this.persist(this.#draft.createTask(this.world.policy));
  }

  enrol(body: CertificateBody): Certificate | Refused {
    return viaBytes(certificateCodec, this.persist(this.#draft.enrol(body)));
  }

  offer(request: Uint8Array): Offer | Refused {
    const { task } = this.world;
    const fresh = this.#freshKeys();
    const part = this.persist(this.#draft.offer(offerRequestCodec.decode(request), fresh, this.world.now));
    return isRefused(part) ? part : viaBytes(offerCodec, { task, part, slotKeys: this.#list(part.offer) });
  }

  /** Draws with its own list. */
  drawBuffer(request: Uint8Array): DrawnBuffer | Refused {
    const step = this.#draft.drawBuffer(bufferRequestCodec.decode(request), this.#freshKeys(), this.world.now);
    const descriptor = this.persist(step);
    if (isRefused(descriptor)) return descriptor;
    // For a repeated request the descriptor is an earlier one, and so is its list.
    const own = descriptor.parts.find(({ authority }) => authority === this.index) as BufferPart;
    return viaBytes(drawnBufferCodec, { descriptor, slotKeys: this.#list(own.offer) });
  }

  #freshKeys(): FreshKeys {
    const offer = this.world.randomBytes(16);
    return { offer, sealingKey: this.#issuer.sealingKey(this.#list(offer)) };
  }

  #list(offer: Uint8Array): Uint8Array {
    const { task, policy } = this.world;
    return allSteps(this.#issuer.slotKeys({ task, offer, bufferSize: policy.bufferSize }));
  }

  issueKey(request: Uint8Array): Uint8Array | Refused {
    const { keyRequest, keyAnswer } = this.messages;
    const answer = this.takeKeyRequest(keyRequest.decode(request));
    return 'kind' in answer ? answer : keyAnswer.encode(answer);
  }

  takeKeyRequest(request: KeyRequest): KeyAnswer | Refused {
    return this.persist(this.#draft.issueKey(request, this.world.now));
  }

  close(request: Uint8Array): CloseAnswer | Refused {
    const { closeRequest, closeAnswer } = this.messages;
    return viaBytes(closeAnswer, this.takeClose(closeRequest.decode(request)));
  }

  takeClose(request: CloseRequest): CloseAnswer | Refused {
    return this.persist(this.#draft.close(request, this.world.now));
  }

  outcome(ctx: Ctx): Outcome {
    return viaBytes(outcomeCodec, this.persist(this.core.outcome(ctx, this.world.now))) as Outcome;
  }

  appendModel(append: Uint8Array): ModelEntry | Refused {
    return viaBytes(modelEntryCodec, this.persist(this.#draft.appendModel(modelAppendCodec.decode(append))));
  }

  adoptModel(entry: Uint8Array): ModelEntry | Refused {
    return viaBytes(modelEntryCodec, this.persist(this.#draft.adoptModel(modelEntryCodec.decode(entry))));
  }

  newestModel(nonce: Uint8Array): NewestModel {
    const shown = this.core.showNewestModel(this.world.task, nonce);
    if (shown === undefined) throw new Error('no model is logged');
    return viaBytes(newestModelCodec, shown) as NewestModel;
  }

  /** Takes over the state of the same authority in another federation. */
  continue({ log, witness, core }: FederationAuthority): void {
    this.log = [...log];
    this.witness = witness;
    this.core = core.draft();
  }

  restart(): void {
    this.core = AttributeAuthority.restore(this.ports, this.records);
    const { records } = this.core.start(this.witness, this.world.randomBytes(16), this.world.now);
    this.log.push(...records);
    this.core.apply(records);
    if (records.length > 0) this.witness = this.core.head();
  }

  /** Returns another life of the log in its current state: restored elsewhere and started without a witness, as in a drill. */
  lostLife(): AttributeAuthority {
    const copy = AttributeAuthority.restore(this.ports, this.records);
    copy.apply(copy.start(undefined, this.world.randomBytes(16), this.world.now).records);
    return copy;
  }

  get messages(): AuthorityMessages {
    return authorityMessages(this.world.policy.bufferSize);
  }

  persist<Answer>({ records, answer, decidedAt }: AuthorityStep<Answer>): Answer | Refused {
    for (const entry of records) {
      this.log.push(entry);
      this.world.persisted('authority');
    }
    this.core.apply(records, decidedAt);
    // The witness may lag behind the log but is never ahead of it.
    if (records.length > 0) this.witness = this.core.head();
    return answer;
  }
}

/** Returns the answer as it arrives: encoded and decoded again. */
export function viaBytes<T extends object>(
  codec: { encode(value: T): Uint8Array; decode(bytes: Uint8Array): T },
  answer: T | Refused,
): T | Refused {
  return 'kind' in answer && answer.kind === 'refused' ? (answer as Refused) : codec.decode(codec.encode(answer as T));
}
