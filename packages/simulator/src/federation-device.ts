/** A device of a federation: its key, its certificate, and the session it can resume after any crash. */
import type { Signer, Suite } from '@basa/masking';
import { concatBytes } from '@basa/masking';
import type {
  Block,
  BuiltInput,
  Certificate,
  Ctx,
  Descriptor,
  DeviceLedger,
  DeviceStep,
  FrozenSession,
  KeyAnswer,
  Refused,
  Released,
  Slot,
  SlottedSession,
  UploadDraft,
  UserId,
  UserPorts,
  UserRecord,
  UserSession,
} from '@basa/protocol';
import {
  acknowledgeUpload,
  authorityMessages,
  buildInput,
  checkDescriptor,
  depositMessage,
  depositToSign,
  EMPTY_LEDGER,
  frameHeader,
  freezeUpload,
  headerToSign,
  inputDigestOf,
  isSessionRecord,
  keyRequestMessage,
  keyRequestToSign,
  maskInput,
  millis,
  packMasked,
  prepareDeposit,
  receiveKey,
  receiveSlot,
  releaseDelta,
  restoreSession,
  uploadHeaderMessage,
  userIdOf,
  wipeSession,
} from '@basa/protocol';
import { Crash } from './crash.ts';
import { granted } from './granted.ts';
import type { World } from './world.ts';

export type Step = 'seat' | 'deposit' | 'key' | 'upload';

export class FederationDevice {
  readonly world: World;
  /** Counts the devices of a federation: names the coordinate of its one-hot update. */
  readonly number: number;
  readonly signer: Signer;
  readonly user: UserId;
  certificate: Certificate;
  /** What it tells of the metrics that the task names. */
  metrics: Readonly<Record<string, number>> = {};
  /** On disk: the input, the session's records, and where each update was given to. */
  input: Uint32Array | undefined;
  records: UserRecord[] = [];
  ledger: DeviceLedger = EMPTY_LEDGER;
  session: UserSession | undefined;
  deltaId: Uint8Array;
  /** The tensors of its model, none of which may vanish; without them the whole update is one. */
  blocks: readonly Block[] | undefined;
  /** In memory: what was masked to be frozen, so that only a device that restarted masks again. */
  #masked: Uint8Array | undefined;

  constructor(world: World, number: number, signer: Signer) {
    this.world = world;
    this.number = number;
    this.signer = signer;
    this.user = userIdOf(this.suite, signer.publicKey);
    this.deltaId = world.randomBytes(16);
    this.certificate = granted(
      world.authority.enrol({
        task: world.task,
        deviceKey: signer.publicKey,
        issuedAt: world.now,
        notAfter: millis(world.now + 10 ** 9),
      }),
    );
  }

  get suite(): Suite {
    return this.world.environment.tools.suite;
  }

  get ports(): UserPorts {
    const { authority, randomBytes, sealings } = this.world;
    return { suite: this.suite, randomBytes, sealing: sealings.sealing, authorityKey: authority.publicKey };
  }

  get ctx(): Ctx {
    if (this.session === undefined) throw new Error('no session');
    return this.session.member.ctx;
  }

  get slot(): Slot {
    if (this.session?.step === 'slotted') return this.session.ticket.slot;
    if (this.session?.step === 'frozen') return this.session.header.slot;
    throw new Error(`no slot at step ${this.session?.step}`);
  }

  /** The one-hot update of this device: its number says which coordinate, as long as there are so many. */
  oneHot(): Float32Array {
    const delta = new Float32Array(this.world.policy.dimension);
    delta[this.number % delta.length] = 1;
    return delta;
  }

  /** Goes through the protocol up to and including `until`, from wherever it stands; survives its own crashes. */
  contribute(
    until: Step = 'upload',
    delta: Float32Array = this.oneHot(),
    trainedOn?: number,
  ): { readonly kind: 'accepted' } | Refused {
    for (;;) {
      try {
        return this.#goOn(until, delta, trainedOn);
      } catch (error) {
        if (!(error instanceof Crash) || error.party !== 'user') throw error;
        this.restart();
      }
    }
  }

  restart(): void {
    this.#masked = undefined;
    this.session = restoreSession(this.suite, this.records);
  }

  /** Starts over with a new update; the old session's records are done with. */
  newUpdate(): void {
    this.deltaId = this.world.randomBytes(16);
    this.leave();
  }

  /** Forgets the session, keeps the update. */
  leave(): void {
    this.records = [];
    this.session = undefined;
    this.input = undefined;
    this.#masked = undefined;
  }

  #goOn(until: Step, delta: Float32Array, trainedOn: number | undefined): { readonly kind: 'accepted' } | Refused {
    const done = { kind: 'accepted' } as const;
    if (this.session?.step === 'acknowledged') return done;
    if (this.session === undefined) {
      const offered = this.world.server.seat(this.certificate);
      if ('kind' in offered) return offered;
      const seated = checkDescriptor(this.suite, this.world.pins, offered, this.world.now);
      if (seated.kind === 'refused') return seated;
      const { descriptor } = seated;
      if (until === 'seat') return done;
      const built = this.buildVector(descriptor, delta, trainedOn ?? descriptor.version);
      if (built.kind === 'refused') return built;
      this.input = built.vector;
      const inputDigest = inputDigestOf(this.suite, built.vector);
      const input = { descriptor, certificate: this.certificate, deltaId: this.deltaId, inputDigest };
      const entered = this.persist(prepareDeposit(this.ports, this, input));
      if ('kind' in entered) return entered;
    }
    if (this.session?.step === 'prepared') {
      const answer = this.world.call('deposit', () => this.world.server.deposit(this.depositBytes()));
      if (!(answer instanceof Uint8Array)) return answer;
      const next = this.persist(receiveSlot(this.ports, this, this.world.server.messages.depositAnswer.decode(answer)));
      if ('kind' in next) return next;
    }
    if (until === 'deposit') return done;
    if (this.session?.step === 'slotted') {
      const refusal = this.receiveKeyAndFreeze(until);
      if (refusal !== undefined) return refusal;
    }
    if (until === 'key') return done;
    const answer = this.world.call('upload', () => this.world.server.upload(this.uploadBytes()));
    if (answer.kind === 'refused') return answer;
    this.persist(acknowledgeUpload(this.ports, this));
    return done;
  }

  /** x' of the update, fixed before the deposit leaves. */
  buildVector(descriptor: Descriptor, delta: Float32Array, trainedOn: number): BuiltInput {
    const update = { delta, trainedOn, metrics: this.metrics, randomWords: this.world.environment.randomWords(7) };
    return buildInput(descriptor, { ...update, ...(this.blocks !== undefined && { blocks: this.blocks }) });
  }

  /** What it makes of the key of its slot. */
  openKey(session: SlottedSession, answer: KeyAnswer): UploadDraft | Refused {
    return receiveKey(this.ports, session, answer);
  }

  depositBytes(): Uint8Array {
    if (this.session?.step !== 'prepared') throw new Error('not prepared');
    const signature = this.signer.sign(depositToSign(this.session).statement);
    return this.world.server.messages.deposit.encode(depositMessage(this.session, signature));
  }

  keyRequestBytes(): Uint8Array {
    if (this.session?.step !== 'slotted') throw new Error('not slotted');
    const signature = this.signer.sign(keyRequestToSign(this.ports, this.session).statement);
    return authorityMessages(this.world.policy.bufferSize).keyRequest.encode(
      keyRequestMessage(this.ports, this.session, signature),
    );
  }

  receiveKeyAndFreeze(until: Step): Refused | undefined {
    const answer = this.world.call('key', () => this.world.authority.issueKey(this.keyRequestBytes()));
    if (!(answer instanceof Uint8Array)) return answer;
    if (until === 'key' || this.session?.step !== 'slotted') return undefined;
    const { keyAnswer } = authorityMessages(this.world.policy.bufferSize);
    const draft = this.openKey(this.session, keyAnswer.decode(answer));
    if (draft.kind === 'refused') return draft;
    const masking = granted(maskInput(this.ports, this.session, this.input as Uint32Array, draft));
    this.world.mask(masking.vector, masking.plan);
    const masked = packMasked(this.session, masking.vector);
    const next = this.persist(freezeUpload(this.ports, this, draft, masked));
    if ('kind' in next) return next;
    this.#masked = masked;
    return undefined;
  }

  /** The upload, made of what is frozen: the same bytes each time. */
  uploadBytes(): Uint8Array {
    const session = this.session;
    if (session?.step !== 'frozen') throw new Error('not frozen');
    this.#masked ??= this.#maskAgain(session);
    const signature = this.signer.sign(headerToSign(session).statement);
    const header = authorityMessages(this.world.policy.bufferSize).uploadHeader.encode(
      uploadHeaderMessage(session, signature),
    );
    return concatBytes(frameHeader(header), this.#masked, ...session.backups);
  }

  #maskAgain(session: FrozenSession): Uint8Array {
    const masking = granted(maskInput(this.ports, session, this.input as Uint32Array));
    this.world.mask(masking.vector, masking.plan);
    return packMasked(session, masking.vector);
  }

  /** Asks the authority what became of the update, and frees it for another buffer where that is allowed. */
  release(): Released {
    const outcome = this.world.authority.outcome(this.ctx);
    const { state, answer } = releaseDelta(this.ports, this, this.deltaId, outcome);
    this.ledger = state.ledger;
    return answer;
  }

  /** The records of a step are durable together, and it may die right after. */
  persist<Answer>({ state: { ledger, session }, records, answer }: DeviceStep<Answer>): Answer | Refused {
    const ofSession = records.filter(isSessionRecord);
    this.records.push(...ofSession);
    this.ledger = ledger;
    for (const _ of ofSession) this.world.persisted('user');
    if (this.session !== undefined && (session?.step === 'acknowledged' || session?.step === 'abandoned'))
      wipeSession(this.session);
    this.session = session;
    return answer;
  }
}
