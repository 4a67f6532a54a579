/**
 * A device of a federation: its key, its certificate, and the session it can resume after any crash. `contribute` takes
 * it through the protocol; a caller that decides what arrives and when (the oracle, the explorer) goes step by step:
 * `enter`, `deposit`, `takeSlot`, `keyRequest`, `takeKeys`, `upload`, `acknowledge`, each continuing from its records.
 */
import { concatBytes, type Signer, type Suite } from '@basa/masking';
import {
  acknowledgeUpload,
  agreedOn,
  authorityMessages,
  type Block,
  type BuiltInput,
  buildInput,
  type Certificate,
  type ContributeRequest,
  type Ctx,
  certificateCodec,
  checkDrawnBuffer,
  contributeSteps,
  type Deposit,
  type DepositAnswer,
  type DeviceLedger,
  type DeviceStep,
  type DrawnBuffer,
  EMPTY_LEDGER,
  frameHeader,
  inputDigestOf,
  isLedgerRecord,
  isSessionRecord,
  type KeyAnswerOf,
  type KeyRequest,
  keyAnswerProblem,
  type LedgerRecord,
  type Masking,
  millis,
  type OutcomeOf,
  prepareDeposit,
  type Refused,
  type Released,
  receiveSlot,
  refused,
  releaseDelta,
  restoreDevice,
  type SeatRequest,
  type Slot,
  type SumRules,
  type UserId,
  type UserPorts,
  type UserRecord,
  type UserSession,
  userIdOf,
  wipeSession,
} from '@basa/protocol';
import { Crash } from './crash.ts';
import { ACCEPTED, type Accepted, driveSession, type Step, type UploadRequest } from './drive.ts';
import { granted } from './granted.ts';
import { outcomesOf, type World } from './world.ts';

export class FederationDevice {
  readonly world: World;
  /** The number of the device in its federation; it selects the coordinate of its one-hot update. */
  readonly number: number;
  readonly signer: Signer;
  readonly user: UserId;
  certificate: Certificate;
  /** The values it reports for the metrics that the task names. */
  metrics: Readonly<Record<string, number>> = {};
  /** On disk: the input, the records of the session, and the records of the buffers that got its updates. */
  input: Uint32Array | undefined;
  records: UserRecord[] = [];
  ledgerRecords: LedgerRecord[] = [];
  ledger: DeviceLedger = EMPTY_LEDGER;
  session: UserSession | undefined;
  deltaId: Uint8Array;
  /** The tensors of its model, none of which may vanish; without them the whole update counts as one tensor. */
  blocks: readonly Block[] | undefined;
  /** In memory: the keys of its slot, and the frozen upload, so that only a device that restarted masks again. */
  keyAnswers: readonly KeyAnswerOf[] | undefined;
  #upload: UploadRequest | undefined;

  /** Enrols, unless it has a certificate. */
  constructor(world: World, number: number, signer: Signer, certificate?: Certificate) {
    this.world = world;
    this.number = number;
    this.signer = signer;
    this.user = userIdOf(this.suite, signer.publicKey);
    this.deltaId = world.randomBytes(16);
    this.certificate = certificate ?? enrolled(world, signer);
  }

  /** The same device in a copy of its federation. */
  copyIn(world: World): FederationDevice {
    const copy = new FederationDevice(world, this.number, this.signer, this.certificate);
    const { metrics, input, records, ledgerRecords, ledger, session, deltaId, blocks, keyAnswers } = this;
    copy.records = [...records];
    copy.ledgerRecords = [...ledgerRecords];
    copy.input = input?.slice();
    return Object.assign(copy, { metrics, ledger, session, deltaId, blocks, keyAnswers });
  }

  get suite(): Suite {
    return this.world.environment.tools.suite;
  }

  get ports(): UserPorts {
    const { randomBytes, sealings } = this.world;
    return { suite: this.suite, randomBytes, sealing: sealings.sealing };
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

  /** The one-hot update of this device: its number selects the coordinate, modulo the dimension. */
  oneHot(): Float32Array {
    const delta = new Float32Array(this.world.policy.dimension);
    delta[this.number % delta.length] = 1;
    return delta;
  }

  /** Goes through the protocol up to and including `until`, continuing from its records; survives its own crashes. */
  contribute(until: Step = 'upload', delta: Float32Array = this.oneHot(), trainedOn?: number): Accepted | Refused {
    for (;;) {
      try {
        return this.#goOn(until, delta, trainedOn);
      } catch (error) {
        if (!(error instanceof Crash) || error.party !== 'user') throw error;
        this.restart();
      }
    }
  }

  /** Requests a seat for an update that was trained on this version; the newest one by default. */
  seatRequest(trainedOn?: number): SeatRequest {
    const { policy, server } = this.world;
    // With mixed versions the number is enough, and may be a future one.
    const isAny = policy.versions === 'unsafeMixed' && trainedOn !== undefined;
    const model = isAny ? { version: trainedOn, modelHash: new Uint8Array(32) } : server.entry(trainedOn);
    return { certificate: this.certificate, version: model.version, modelHash: model.modelHash };
  }

  restart(): void {
    this.#upload = undefined;
    this.keyAnswers = undefined;
    const { ledger, session } = restoreDevice(this.suite, [...this.ledgerRecords, ...this.records]);
    this.ledger = ledger;
    this.session = session;
  }

  /** Starts over with a new update; the records of the old session are discarded. */
  newUpdate(): void {
    this.deltaId = this.world.randomBytes(16);
    this.leave();
  }

  /** Forgets the session, keeps the update. */
  leave(): void {
    this.records = [];
    this.session = undefined;
    this.input = undefined;
    this.#upload = undefined;
    this.keyAnswers = undefined;
  }

  #goOn(until: Step, delta: Float32Array, trainedOn: number | undefined): Accepted | Refused {
    if (this.session?.step === 'acknowledged') return ACCEPTED;
    if (this.session === undefined) {
      const model = this.seatRequest(trainedOn);
      const offered = this.world.server.seat(model);
      if ('kind' in offered) return offered;
      const no = this.enter(offered, { model, delta, isSeatOnly: until === 'seat' });
      if (no !== undefined) return no;
      if (until === 'seat') return ACCEPTED;
    }
    return this.#drive(until);
  }

  /** Checks a buffer that it is shown, fixes its input for it and prepares its deposit. */
  enter(
    offered: DrawnBuffer,
    entry: {
      readonly model: Pick<SeatRequest, 'version' | 'modelHash'>;
      readonly delta?: Float32Array;
      readonly isSeatOnly?: boolean;
    },
  ): Refused | undefined {
    const { model, delta = this.oneHot(), isSeatOnly = false } = entry;
    const seated = checkDrawnBuffer(this.suite, this.world.pins, offered, this.world.now, model);
    if (seated.kind === 'refused') return seated;
    if (isSeatOnly) return undefined;
    const { descriptor, slotKeys } = seated;
    const built = this.buildVector(descriptor, delta, model.version);
    if (built.kind === 'refused') return built;
    this.input = built.vector;
    const inputDigest = inputDigestOf(this.suite, built.vector);
    const input = { descriptor, slotKeys, certificate: this.certificate, deltaId: this.deltaId, inputDigest };
    const entered = this.persist(prepareDeposit(this.ports, this, input));
    return 'kind' in entered ? entered : undefined;
  }

  deposit(): Deposit {
    return this.#said('deposit').message;
  }

  /** May be called at any step: the core decides about a step that is past. */
  takeSlot(answer: DepositAnswer): object | Refused {
    return this.persist(receiveSlot(this.ports, this, answer));
  }

  keyRequest(): KeyRequest {
    return this.#said('key').message;
  }

  /** Like a client: invalid answers do not count, and with too few it continues to wait. */
  takeKeys(answers: readonly KeyAnswerOf[]): Accepted | Refused {
    const { session } = this;
    if (session?.step !== 'slotted') return refused('wrong-step');
    const problems = answers.map((answer) => keyAnswerProblem(this.ports, session, answer));
    const good = answers.filter((_, n) => problems[n] === undefined);
    if (good.length < this.world.policy.threshold)
      return problems.find((one) => one !== undefined) ?? refused('key-invalid');
    this.keyAnswers = good;
    return ACCEPTED;
  }

  /** Masks and freezes with the keys that it took, or makes the frozen upload again. */
  upload(): UploadRequest | Refused {
    const { session } = this;
    if (session?.step !== 'frozen' && (session?.step !== 'slotted' || this.keyAnswers === undefined))
      return refused('wrong-step');
    if (this.#upload === undefined) {
      const made = this.#drive('freeze');
      if (made.kind === 'refused') return made;
    }
    return this.#upload as UploadRequest;
  }

  acknowledge(): object | Refused {
    return this.persist(acknowledgeUpload(this.ports, this));
  }

  mask({ vector, plan }: Masking): void {
    this.world.mask(vector, plan);
  }

  #drive(until: Step | 'freeze'): Accepted | Refused {
    return driveSession(this, until, (upload) => {
      this.#upload = upload;
    });
  }

  /** Builds x' of the update, fixed before the deposit leaves. */
  buildVector(rules: SumRules, delta: Float32Array, trainedOn: number): BuiltInput {
    const { environment, randomBytes } = this.world;
    // Rounding may be the same in every run, but noise must be fresh.
    const own = (words: Uint32Array): void => void new Uint8Array(words.buffer).set(randomBytes(words.byteLength));
    const randomWords = rules.privacy === undefined ? environment.randomWords(7) : own;
    const update = { delta, trainedOn, metrics: this.metrics, randomWords };
    return buildInput(rules, { ...update, ...(this.blocks !== undefined && { blocks: this.blocks }) });
  }

  depositBytes(message: Deposit = this.deposit()): Uint8Array {
    return this.world.server.messages.deposit.encode(message);
  }

  keyRequestBytes(): Uint8Array {
    return authorityMessages(this.world.policy.bufferSize).keyRequest.encode(this.keyRequest());
  }

  receiveKeyAndFreeze(until: Step): Refused | undefined {
    const result = this.#drive(until === 'upload' ? 'freeze' : until);
    return result.kind === 'refused' ? result : undefined;
  }

  /** Makes the upload from the frozen state: the same bytes each time. */
  uploadBytes(): Uint8Array {
    if (this.session?.step !== 'frozen') throw new Error('not frozen');
    const { header, body } = granted(this.upload());
    const { uploadHeader } = authorityMessages(this.world.policy.bufferSize);
    return concatBytes(frameHeader(uploadHeader.encode(header)), body);
  }

  /** Returns its next message, the same each time. */
  #said<Kind extends 'deposit' | 'key'>(kind: Kind): Extract<ContributeRequest, { kind: Kind }> {
    const steps = contributeSteps(this.ports, this);
    const signing = steps.next().value;
    const next = signing.kind === 'sign' ? steps.next(this.signer.sign(signing.statement)).value : signing;
    if (next.kind !== kind) throw new Error(`a device at step ${this.session?.step} has no ${kind} request to send`);
    return next as Extract<ContributeRequest, { kind: Kind }>;
  }

  /** Asks the authority for the status of the update, and frees it for another buffer if that is allowed. */
  release(outcomes: readonly OutcomeOf[] = outcomesOf(this.world, this.ctx)): Released {
    const ports = { suite: this.suite, council: this.world.policy };
    const { state, records, answer } = releaseDelta(ports, this, this.deltaId, outcomes);
    this.ledger = state.ledger;
    this.ledgerRecords.push(...records.filter(isLedgerRecord));
    return answer;
  }

  /** Makes the records of a step durable together; the device may crash right after. */
  persist<Answer>({ state: { ledger, session }, records, answer }: DeviceStep<Answer>): Answer | Refused {
    const ofSession = records.filter(isSessionRecord);
    this.records.push(...ofSession);
    this.ledgerRecords.push(...records.filter(isLedgerRecord));
    this.ledger = ledger;
    for (const _ of ofSession) this.world.persisted('user');
    if (this.session !== undefined && (session?.step === 'acknowledged' || session?.step === 'abandoned'))
      wipeSession(this.session);
    this.session = session;
    return answer;
  }
}

function enrolled(world: World, { publicKey: deviceKey }: Signer): Certificate {
  const body = { task: world.task, deviceKey, issuedAt: world.now, notAfter: millis(world.now + 10 ** 9) };
  const signed = world.authorities.map((authority) => granted(authority.enrol(body)));
  return agreedOn(certificateCodec, world.policy, signed) as Certificate;
}
