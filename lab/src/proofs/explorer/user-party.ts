/** A user of an exploration: the real session per buffer, rebuilt from its records before every step. */
import { applyMasksInPlace } from '@basa/masking';
import {
  abandonSession,
  acknowledgeUpload,
  type BufferSealing,
  bodyOf,
  type Device,
  type DeviceStep,
  depositMessage,
  depositToSign,
  type FrozenSession,
  freezeUpload,
  headerToSign,
  inputDigestOf,
  isSessionRecord,
  keyRequestMessage,
  keyRequestToSign,
  maskInput,
  type PreparedSession,
  packMasked,
  prepareDeposit,
  receiveKey,
  receiveSlot,
  releaseDelta,
  releaseSession,
  restoreLedger,
  restoreSession,
  type SlottedSession,
  type UserPorts,
  type UserRecord,
  type UserSession,
  uploadHeaderMessage,
} from '@basa/protocol';
import { granted } from '@basa/simulator';
import { ALONE } from '../one-authority.ts';
import { type Cast, namedBytes, type Player } from './cast.ts';
import { endingsOf, holdToRecords } from './endings.ts';
import type { Ending, Message } from './messages.ts';
import { forgetful, type UserLocal, withRecords } from './user-local.ts';

export class UserParty {
  readonly #cast: Cast;
  readonly #number: number;
  readonly #player: Player;

  constructor(cast: Cast, number: number) {
    this.#cast = cast;
    this.#number = number;
    this.#player = cast.users[number] as Player;
  }

  get #deltaId(): Uint8Array {
    return new Uint8Array(16).fill(this.#number);
  }

  get name(): string {
    return `user ${this.#number}`;
  }

  /** On its way to buffer 0. */
  initial(): Ending<UserLocal> {
    const nothing: UserLocal = { sessions: this.#cast.buffers.map(() => []), ledger: [], forgot: 0 };
    return this.#prepare(nothing, 0)[0] as Ending<UserLocal>;
  }

  deliver(local: UserLocal, message: Message): Ending<UserLocal>[] {
    const { buffer } = message;
    const cause = `${this.name} gets ${message.kind === 'outcome' ? `the outcome "${message.value.status}"` : `its ${message.kind}`}${this.#of(buffer)}`;
    if (message.kind === 'outcome') return this.#learn(local, message, cause);
    const device = this.#device(local, buffer);
    const { session } = device;
    if (session === undefined) return [];
    switch (message.kind) {
      case 'slot': {
        const step = receiveSlot(this.#ports(local, buffer, 'slot'), device, message.value);
        const slotted = step.state.session;
        const sent = slotted?.step === 'slotted' ? [this.#keyRequest(buffer, slotted)] : [];
        return this.#endings(local, buffer, step, sent, cause);
      }
      case 'key':
        return session.step === 'slotted' ? this.#freeze(local, buffer, session, message, cause) : [];
      case 'acknowledgement':
        return this.#endings(local, buffer, acknowledgeUpload(this.#ports(local, buffer, 'ack'), device), [], cause);
      default:
        return [];
    }
  }

  /** What it may do of its own accord. */
  act(local: UserLocal): Ending<UserLocal>[] {
    return [
      ...(this.#cast.options.crashes ? this.#cast.buffers.flatMap((_, buffer) => this.#sendAgain(local, buffer)) : []),
      ...this.#cast.buffers.flatMap((_, buffer) => this.#leave(local, buffer)),
      ...this.#cast.buffers.flatMap((_, buffer) => (this.#mayEnter(local, buffer) ? this.#prepare(local, buffer) : [])),
      ...forgetful(this.name, local, this.#cast.options.broken),
    ];
  }

  #prepare(local: UserLocal, buffer: number): Ending<UserLocal>[] {
    const { buffers, tools } = this.#cast;
    const { certificate, input } = this.#player;
    const { descriptor, slotKeys } = buffers[buffer] as Cast['buffers'][number];
    const ports = this.#ports(local, buffer, 'prepare');
    const step = prepareDeposit(ports, this.#device(local, buffer), {
      descriptor,
      slotKeys,
      certificate,
      deltaId: this.#deltaId,
      inputDigest: inputDigestOf(tools.suite, input),
    });
    const { session } = step.state;
    if (session?.step !== 'prepared') return [];
    const sent = [this.#deposit(buffer, session)];
    return this.#endings(local, buffer, step, sent, `${this.name} prepares its deposit${this.#of(buffer)}`);
  }

  #freeze(
    local: UserLocal,
    buffer: number,
    session: SlottedSession,
    message: Extract<Message, { kind: 'key' }>,
    cause: string,
  ): Ending<UserLocal>[] {
    const ports = this.#ports(local, buffer, 'key');
    const draft = receiveKey(ports, session, [{ authority: ALONE, answer: message.value }]);
    if (draft.kind === 'refused') return [];
    const { vector, plan } = granted(maskInput(ports, session, this.#player.input, draft));
    applyMasksInPlace(vector, plan, this.#cast.tools);
    const step = freezeUpload(ports, this.#device(local, buffer), draft, packMasked(ports, session, vector));
    const frozen = step.state.session;
    const sent = frozen?.step === 'frozen' ? [this.#uploadOf(local, buffer, frozen)] : [];
    return this.#endings(local, buffer, step, sent, cause);
  }

  /** After a crash it says what it was about to say: the same bytes, made of its records. */
  #sendAgain(local: UserLocal, buffer: number): Ending<UserLocal>[] {
    const session = this.#session(local, buffer);
    const again = (message: Message): Ending<UserLocal>[] => [
      { local, sent: [message], words: `${this.name} sends its ${message.kind} again${this.#of(buffer)}` },
    ];
    if (session?.step === 'prepared') return again(this.#deposit(buffer, session));
    if (session?.step === 'slotted') return again(this.#keyRequest(buffer, session));
    return session?.step === 'frozen' ? again(this.#uploadOf(local, buffer, session)) : [];
  }

  #deposit(buffer: number, session: PreparedSession): Message {
    const value = depositMessage(session, this.#player.signer.sign(depositToSign(session).statement));
    return { kind: 'deposit', user: this.#number, buffer, value };
  }

  #uploadOf(local: UserLocal, buffer: number, session: FrozenSession): Message {
    const ports = this.#ports(local, buffer, 'upload');
    const { vector, plan } = granted(maskInput(ports, session, this.#player.input));
    applyMasksInPlace(vector, plan, this.#cast.tools);
    const value = uploadHeaderMessage(session, this.#player.signer.sign(headerToSign(session).statement));
    return {
      kind: 'upload',
      user: this.#number,
      buffer,
      value,
      body: bodyOf(packMasked(ports, session, vector), session.parts),
    };
  }

  #learn(
    local: UserLocal,
    { buffer, value }: Extract<Message, { kind: 'outcome' }>,
    cause: string,
  ): Ending<UserLocal>[] {
    const ports = this.#ports(local, buffer, 'outcome');
    const judged = { ...ports, council: this.#cast.policy };
    const told = [{ authority: ALONE, outcome: value }];
    const { state, records } = releaseDelta(judged, this.#device(local, buffer), this.#deltaId, told);
    if (records.length === 0 || state.session === undefined) return [];
    const after = withRecords(local, buffer, [...records, ...releaseSession(ports, state).records]);
    return [{ local: after, sent: [], words: `${cause}; its update is free for another buffer` }];
  }

  #leave(local: UserLocal, buffer: number): Ending<UserLocal>[] {
    const device = this.#device(local, buffer);
    const at = device.session?.step;
    if (this.#cast.options.still || (at !== 'prepared' && at !== 'slotted')) return [];
    const step = abandonSession(this.#ports(local, buffer, 'leave'), device, 'abandoned');
    const after = withRecords(local, buffer, step.records);
    return [{ local: after, sent: [], words: `${this.name} leaves the buffer${this.#of(buffer)} for good` }];
  }

  /** Another buffer is open to it once its last one is behind it; whether its update may go there is the core's word. */
  #mayEnter(local: UserLocal, buffer: number): boolean {
    const last = this.#session(local, buffer - 1)?.step;
    return (
      local.sessions[buffer]?.length === 0 &&
      (buffer === 0 ? local.forgot > 0 : last !== undefined && last !== 'prepared' && last !== 'slotted')
    );
  }

  #endings<Answer extends object>(
    local: UserLocal,
    buffer: number,
    { state, records, answer }: DeviceStep<Answer>,
    sent: readonly Message[],
    cause: string,
  ): Ending<UserLocal>[] {
    // The session's record and the ledger's of one step are on disk together, or none is.
    const ofSession = records.filter(isSessionRecord);
    const after = (entries: readonly UserRecord[]): UserLocal =>
      withRecords(local, buffer, entries.length === 0 ? [] : records);
    holdToRecords(this.name, state, this.#device(after(ofSession), buffer));
    const { crashes } = this.#cast.options;
    return endingsOf({ who: 'it', cause, records: ofSession, answer, sent, after, crashes });
  }

  #keyRequest(buffer: number, session: SlottedSession): Message {
    const signature = this.#player.signer.sign(keyRequestToSign(session).statement);
    return { kind: 'key-request', user: this.#number, buffer, value: keyRequestMessage(session, signature) };
  }

  #session(local: UserLocal, buffer: number): UserSession | undefined {
    return restoreSession(this.#cast.tools.suite, local.sessions[buffer] ?? []);
  }

  /** In this buffer. */
  #device(local: UserLocal, buffer: number): Device {
    return { ledger: restoreLedger(local.ledger), session: this.#session(local, buffer) };
  }

  #ports(local: UserLocal, buffer: number, step: string): UserPorts {
    const { tools } = this.#cast;
    const randomBytes = namedBytes(this.#cast, `${this.name} ${buffer} ${step} ${local.forgot}`);
    return { suite: tools.suite, randomBytes, sealing: this.#sealing() };
  }

  /** What a cheat seals, to later slots or for itself, nobody can open. */
  #sealing(): BufferSealing {
    const { sealings, options } = this.#cast;
    const { sealing } = sealings;
    if (options.cheat === undefined || this.#number !== 0) return sealing;
    const garbled = (sealed: Uint8Array): Uint8Array =>
      sealed.map((byte, n) => (n < sealing.selfNameBytes ? byte : byte ^ 1));
    return options.cheat === 'self'
      ? { ...sealing, sealSelf: (...input) => garbled(sealing.sealSelf(...input)) }
      : { ...sealing, sealEdge: (...input) => garbled(sealing.sealEdge(...input)) };
  }

  #of(buffer: number): string {
    return this.#cast.buffers.length > 1 ? ` (buffer ${buffer})` : '';
  }
}
