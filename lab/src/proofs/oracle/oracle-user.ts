/** A device of the oracle's world: the real user core, its records, and where its update was given to. */
import type { Signer } from '@basa/masking';
import {
  acknowledgeUpload,
  type Certificate,
  checkDrawnBuffer,
  type Deposit,
  type DepositAnswer,
  type DeviceLedger,
  type DeviceStep,
  type DrawnBuffer,
  depositMessage,
  depositToSign,
  type EdgeUse,
  EMPTY_LEDGER,
  type FrozenSession,
  freezeUpload,
  headerToSign,
  inputDigestOf,
  isSessionRecord,
  type KeyAnswer,
  type KeyRequest,
  keyRequestMessage,
  keyRequestToSign,
  type Millis,
  maskInput,
  type Outcome,
  type Pins,
  prepareDeposit,
  type Refused,
  receiveKey,
  receiveSlot,
  refused,
  registrationOf,
  releaseDelta,
  restoreSession,
  type SealedParts,
  type UploadDraft,
  type UploadHeader,
  type UserId,
  type UserPorts,
  type UserRecord,
  type UserSession,
  uploadHeaderMessage,
  userIdOf,
} from '@basa/protocol';
import type { Sealings } from '@basa/simulator';
import { ALONE } from '../one-authority.ts';
import type { Bench } from './bench.ts';
import { edgeOpener, selfOpener } from './engines.ts';
import type { Trace } from './trace.ts';

/** One update: its symbol in the trace, and the input made of it. */
interface Update {
  readonly symbol: number;
  readonly input: Uint32Array;
}

/** An upload as it leaves the device. The vector is in the trace; the body is a stand-in with the right hash. */
export interface SentUpload {
  readonly header: UploadHeader;
  readonly body: Uint8Array;
  readonly parts: SealedParts;
}

export class OracleUser {
  readonly number: number;
  readonly isHonest: boolean;
  readonly signer: Signer;
  readonly user: UserId;
  readonly certificate: Certificate;
  readonly ports: UserPorts;
  readonly #sealings: Sealings;
  readonly #trace: Trace;
  readonly #pins: Pins;
  /** On disk. */
  records: UserRecord[] = [];
  update: Update;
  ledger: DeviceLedger = EMPTY_LEDGER;
  /** In memory. */
  session: UserSession | undefined;
  draft: UploadDraft | undefined;

  constructor(
    bench: Bench,
    trace: Trace,
    pins: Pins,
    certificate: Certificate,
    options: { number: number; isHonest: boolean },
  ) {
    this.number = options.number;
    this.isHonest = options.isHonest;
    this.signer = bench.signer('device', options.number);
    this.certificate = certificate;
    this.user = userIdOf(bench.suite, this.signer.publicKey);
    this.#sealings = bench.sealings;
    this.#trace = trace;
    this.#pins = pins;
    this.ports = {
      suite: bench.suite,
      randomBytes: bench.randomBytes((name) => {
        if (!options.isHonest) trace.knows(name);
      }),
      sealing: bench.sealings.sealing,
    };
    this.update = this.#newUpdate(`x${options.number}`);
  }

  #newUpdate(name: string): Update {
    const symbol = this.#trace.newInput(name);
    return { symbol, input: Uint32Array.of(symbol) };
  }

  /** Trains again: another update, that was given to nobody. */
  trainAgain(): void {
    this.update = this.#newUpdate(`x${this.number}'`);
    this.leave();
  }

  /** Another input of the same update, for the session that goes on. */
  quantiseAgain(): void {
    this.update = this.#newUpdate(`x${this.number}'`);
  }

  /** Forgets the session, keeps the update and where it was given to. */
  leave(): void {
    this.records = [];
    this.session = undefined;
    this.draft = undefined;
  }

  restart(): void {
    this.draft = undefined;
    this.session = restoreSession(this.ports.suite, this.records);
  }

  deposit(drawn: DrawnBuffer, now: Millis): Deposit | Refused {
    if (this.session === undefined) {
      const seated = checkDrawnBuffer(this.ports.suite, this.#pins, drawn, now, drawn.descriptor);
      if (seated.kind === 'refused') return seated;
      const { certificate, deltaId } = this;
      const inputDigest = inputDigestOf(this.ports.suite, this.update.input);
      const { descriptor, slotKeys } = seated;
      const input = { descriptor, slotKeys, certificate, deltaId, inputDigest };
      const entered = this.#persist(prepareDeposit(this.ports, this, input));
      if ('kind' in entered) return entered;
    }
    if (this.session?.step !== 'prepared') return refused('wrong-step');
    const message = depositMessage(this.session, this.signer.sign(depositToSign(this.session).statement));
    for (const [n, { sealed }] of message.entries.entries()) this.#saw(n + 1, 'edge', sealed);
    return message;
  }

  takeSlot(answer: DepositAnswer): object | Refused {
    if (this.session === undefined) return refused('wrong-step');
    return this.#persist(receiveSlot(this.ports, this, answer));
  }

  keyRequest(): KeyRequest | Refused {
    if (this.session?.step !== 'slotted') return refused('wrong-step');
    const { statement } = keyRequestToSign(this.session);
    return keyRequestMessage(this.session, this.signer.sign(statement));
  }

  takeKey(answer: KeyAnswer): UploadDraft | Refused {
    if (this.session === undefined) return refused('wrong-step');
    const draft = receiveKey(this.ports, this.session, [{ authority: ALONE, answer }]);
    if (draft.kind === 'draft') this.draft = draft;
    return draft;
  }

  /** Freezes the upload, or goes on with the frozen one, and sends it: the adversary has the bytes. */
  upload(): SentUpload | Refused {
    if (this.session === undefined) return refused('wrong-step');
    if (this.session.step === 'slotted') {
      if (this.draft === undefined) return refused('wrong-step');
      const masking = maskInput(this.ports, this.session, this.update.input, this.draft);
      if (masking.kind === 'refused') return masking;
      const body = bodyOf(this.session, this.draft.earlier.length);
      const frozen = this.#persist(freezeUpload(this.ports, this, this.draft, body));
      if ('kind' in frozen) return frozen;
    }
    const { session } = this;
    if (session.step !== 'frozen') return refused('wrong-step');
    const masking = maskInput(this.ports, session, this.update.input);
    if (masking.kind === 'refused') return masking;
    if (this.isHonest) this.#trace.sawMasked(this.update.symbol, masking.plan);
    this.#sawParts(session);
    const header = uploadHeaderMessage(session, this.signer.sign(headerToSign(session).statement));
    return { header, body: bodyOf(session, session.earlier.length), parts: session.parts };
  }

  acknowledge(): void {
    if (this.session !== undefined) this.#persist(acknowledgeUpload(this.ports, this));
  }

  /** Sealed to a slot, by the list that this user was told. */
  #saw(slot: number, role: EdgeUse['role'], sealed: Uint8Array): void {
    const { member } = this.session as UserSession;
    this.#trace.sawSealed(edgeOpener(this.#sealings, member, slot, { role, joinTag: member.joinTag }, sealed));
  }

  #sawParts({ member, header, parts }: FrozenSession): void {
    const registration = registrationOf(this.ports.suite, header.receipt);
    this.#trace.sawSealed(selfOpener(this.#sealings, member, registration, parts.self));
    const isVoid = new Set<number>(header.voids);
    const earlier = Array.from({ length: header.slot }, (_, slot) => slot).filter((slot) => !isVoid.has(slot));
    for (const [n, slot] of earlier.entries()) this.#saw(slot, 'backup', parts.backups[n] as Uint8Array);
  }

  /** Takes its update back if the outcome allows it. */
  hear(outcome: Outcome): void {
    const ports = { ...this.ports, council: this.#pins.policy };
    this.ledger = releaseDelta(ports, this, this.deltaId, [{ authority: ALONE, outcome }]).state.ledger;
  }

  /** Where its upload stands; undefined before it is frozen. */
  get slot(): number | undefined {
    return this.session?.step === 'frozen' ? this.session.header.slot : undefined;
  }

  /** Names the update in the ledger. */
  get deltaId(): Uint8Array {
    return inputDigestOf(this.ports.suite, this.update.input).subarray(0, 16);
  }

  /** Session and ledger, durable together. */
  #persist<Answer extends object>({ state, records, answer }: DeviceStep<Answer>): Answer | Refused {
    this.records.push(...records.filter(isSessionRecord));
    this.ledger = state.ledger;
    this.session = state.session;
    return answer;
  }
}

/** A stand-in for y: one for each session and number of masks. */
function bodyOf({ member }: UserSession, masks: number): Uint8Array {
  const body = member.joinTag.slice(0, 8);
  body[0] = masks;
  return body;
}
