/** A device whose every message the adversary sees: its masks and sealed seeds go into the trace, and a colluder's seeds with them. */
import { type MaskPlan, type RandomBytes, Secret, type Signer } from '@basa/masking';
import {
  type BuiltInput,
  type Certificate,
  type Deposit,
  type Descriptor,
  type DrawnBuffer,
  type EdgeUse,
  type FrozenSession,
  type KeyAnswer,
  type KeyRequest,
  type Masking,
  type Membership,
  type Outcome,
  prefixElements,
  type Refused,
  refused,
  registrationOf,
  type SealedParts,
  type UploadHeader,
  type UserPorts,
} from '@basa/protocol';
import { Damaged, type Federation, FederationDevice } from '@basa/simulator';
import { ALONE } from '../world/one-authority.ts';
import { edgeOpener, selfOpener } from './openers.ts';
import { nameOfSeed, type Trace } from './trace.ts';

/** An upload as it leaves the device. The masked vector is in the trace; the content of the body is not masked. */
export interface SentUpload {
  readonly header: UploadHeader;
  readonly body: Uint8Array;
  readonly parts: SealedParts;
}

interface WatchedOptions {
  readonly number: number;
  readonly isHonest: boolean;
  readonly signer: Signer;
  readonly certificate?: Certificate | undefined;
}

export class WatchedDevice extends FederationDevice {
  readonly isHonest: boolean;
  /** The symbol of its update in the trace. */
  symbol: number;
  /** Its own randomness. */
  draw: RandomBytes;
  readonly #trace: Trace;
  #plan: MaskPlan | undefined;

  constructor(world: Federation, trace: Trace, options: WatchedOptions) {
    super(world, options.number, options.signer, options.certificate);
    this.isHonest = options.isHonest;
    this.#trace = trace;
    this.symbol = trace.newInput(`x${this.number}`);
    this.draw = (length) => {
      const bytes = world.randomBytes(length);
      if (!this.isHonest) trace.knows(nameOfSeed(bytes));
      return bytes;
    };
  }

  override get ports(): UserPorts {
    return { ...super.ports, randomBytes: this.draw };
  }

  /** Trains again: a new update that has not been contributed yet. */
  trainAgain(): void {
    this.symbol = this.#trace.newInput(`x${this.number}'`);
    this.newUpdate();
  }

  /** Quantises the same update again, for the session under way. */
  quantiseAgain(): void {
    this.symbol = this.#trace.newInput(`x${this.number}'`);
    this.input = this.#vector(this.world.policy);
  }

  override buildVector(descriptor: Descriptor): BuiltInput {
    return { kind: 'input', vector: this.#vector(descriptor), weight: 1, staleness: 0, clipped: 0 };
  }

  #vector(policy: Parameters<typeof prefixElements>[0]): Uint32Array {
    return new Uint32Array(prefixElements(policy) + 1).fill(this.symbol);
  }

  /** Deposits to a buffer that it is shown, and enters it first if it has not before. */
  join(drawn: DrawnBuffer): Deposit | Refused {
    const no = this.session === undefined ? this.enter(drawn, { model: drawn.descriptor }) : undefined;
    if (no !== undefined) return no;
    if (this.session?.step !== 'prepared') return refused('wrong-step');
    const message = this.deposit();
    for (const [n, { sealed }] of message.entries.entries()) this.#saw(n + 1, 'edge', sealed);
    return message;
  }

  /** The seeds are overwritten once the upload is frozen. */
  override mask({ plan }: Masking): void {
    const terms = plan.terms.map(({ seed, sign }) => ({ seed: new Secret(seed.reveal().slice()), sign }));
    this.#plan = { ...plan, terms };
  }

  askKey(): KeyRequest | Refused {
    return this.session?.step === 'slotted' ? this.keyRequest() : refused('wrong-step');
  }

  takeKey(answer: KeyAnswer): object | Refused {
    return this.takeKeys([{ authority: ALONE, answer }]);
  }

  /** Frees its update if the outcome allows it. */
  hear(outcome: Outcome): void {
    this.release([{ authority: ALONE, outcome }]);
  }

  /** The slot of its upload; undefined before it is frozen. */
  get frozenSlot(): number | undefined {
    return this.session?.step === 'frozen' ? this.session.header.slot : undefined;
  }

  /** Freezes the upload, or continues with the frozen one, and sends it: the adversary has the bytes. */
  send(): SentUpload | Refused {
    const sent = this.#uploadIfWhole();
    if (sent.kind === 'refused') return sent;
    const session = this.session as FrozenSession;
    if (this.isHonest) this.#trace.sawMasked(this.symbol, this.#plan as MaskPlan);
    this.#sawParts(session);
    return { header: sent.header, body: sent.body, parts: session.parts };
  }

  #uploadIfWhole(): ReturnType<FederationDevice['upload']> {
    try {
      return this.upload();
    } catch (error) {
      if (error instanceof Damaged) return refused('delta-committed', { detail: error.message });
      throw error;
    }
  }

  /** Records a seed sealed to a slot, by the list that this user was shown. */
  #saw(slot: number, role: EdgeUse['role'], sealed: Uint8Array): void {
    const member = this.session?.member as Membership;
    this.#trace.sawSealed(edgeOpener(this.world.sealings, member, slot, { role, joinTag: member.joinTag }, sealed));
  }

  #sawParts({ member, header, parts }: FrozenSession): void {
    const registration = registrationOf(this.suite, header.receipt);
    this.#trace.sawSealed(selfOpener(this.world.sealings, member, registration, parts.self));
    const isVoid = new Set<number>(header.voids);
    const earlier = Array.from({ length: header.slot }, (_, slot) => slot).filter((slot) => !isVoid.has(slot));
    for (const [n, slot] of earlier.entries()) this.#saw(slot, 'backup', parts.backups[n] as Uint8Array);
  }
}
