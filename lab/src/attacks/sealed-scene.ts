/**
 * A federation in `sealed` mode whose server belongs to the adversary. The adversary sees every deposit and upload, has the keys of its
 * colluders and everything that the authority releases, and may lie in every message.
 */
import { modulusSize, toHex } from '@basa/masking';
import {
  type Block,
  commitmentOf,
  type DescribedBuffer,
  openEnvelope,
  prefixElements,
  type Refused,
  type UploadHeader,
  type UserSession,
} from '@basa/protocol';
import { Federation, FederationDevice, type FederationOptions, type Step } from '@basa/simulator';
import { Adversary } from './adversary.ts';
import type { AttackRefusal, AttackResult, AttackSetting } from './attack.ts';
import { findingsOf, type HonestInput, nearFindingsOf } from './referee.ts';
import { DIMENSION, LEVEL, sampleUpdate } from './sample-update.ts';
import { selfName, Wiretap } from './wiretap.ts';

/** The lies that the server tells instead of the truth, while they are set. */
interface Lies {
  seat?: (() => DescribedBuffer) | undefined;
  deposit?: ((bytes: Uint8Array) => Uint8Array) | undefined;
  /** Accepts an upload that the honest core would refuse. */
  upload?: (() => { readonly kind: 'accepted' }) | undefined;
}

/** K = 4, and Kmin = 3 withstands one colluder (c_max + 2 <= Kmin). */
const SIZE = { bufferSize: 4, minimum: 3 };
/** The same for a buffer in which no user has to drop out. */
export const ALL_OF_THREE = { bufferSize: 3, minimum: 3 };

export class SealedScene {
  readonly world: Federation;
  readonly adversary: Adversary;
  readonly lies: Lies = {};
  readonly #refusals: AttackRefusal[] = [];
  readonly #serverNos = new Set<object>();
  readonly #inputs = new Map<string, HonestInput>();
  readonly #names = new Map<FederationDevice, string>();
  readonly #colluders = new Set<FederationDevice>();
  readonly #wiretap: Wiretap;

  constructor({ environment, sealings }: AttackSetting, options: Partial<FederationOptions> = {}) {
    const size = { ...SIZE, dimension: DIMENSION, level: LEVEL };
    this.world = new Federation(environment, { ...size, ...options, sealings: sealings() });
    this.adversary = new Adversary(environment);
    this.#wiretap = new Wiretap(this.world, this.adversary);
    this.#tapServer();
    this.#tapAuthority();
  }

  /** Headers of the uploads that were seen, by join tag. */
  get headers(): ReadonlyMap<string, UploadHeader> {
    return this.#wiretap.headers;
  }

  honest(name: string): FederationDevice {
    const device = this.world.device();
    this.#names.set(device, name);
    return device;
  }

  honestOnes<const Names extends readonly string[]>(...names: Names): { [Index in keyof Names]: FederationDevice } {
    return names.map((name) => this.honest(name)) as { [Index in keyof Names]: FederationDevice };
  }

  /** Enrolled like any device, but tells the adversary everything. */
  colluder(name: string): FederationDevice {
    const device = this.honest(name);
    this.#colluders.add(device);
    return device;
  }

  /** The update of a device. Another `version` means that the device trained again. */
  update(device: FederationDevice, version = 0): Float32Array {
    const words = this.world.environment.randomWords(1000 + 100 * version + device.number);
    return sampleUpdate(words, this.world.policy.dimension);
  }

  /** The device continues as far as it is allowed. A refusal by the user or by the authority is recorded. */
  go(device: FederationDevice, until: Step = 'upload', version = 0): { readonly kind: 'accepted' } | Refused {
    return this.offer(device, this.update(device, version), until);
  }

  /** The same with another update, trained on the version of the descriptor or on another. */
  offer(
    device: FederationDevice,
    delta: Float32Array,
    until: Step = 'upload',
    trainedOn?: number,
  ): { readonly kind: 'accepted' } | Refused {
    const answer = device.contribute(until, delta, trainedOn);
    if (answer.kind === 'refused') this.note(answer);
    this.#rememberInput(device);
    if (this.#colluders.has(device)) this.#pool(device);
    return answer;
  }

  /** A refusal that can only come from a user, unless the server or the authority was seen to make it. */
  note(answer: Refused, by: AttackRefusal['by'] = 'user'): void {
    const { reason } = answer;
    if (this.#serverNos.has(answer)) return;
    this.#serverNos.add(answer);
    if (this.#refusals.some((known) => known.by === by && known.reason === reason)) return;
    this.#refusals.push({ by, reason });
  }

  result(): AttackResult {
    return this.resultOn([0, this.world.policy.dimension]);
  }

  /** The knowledge about these entries only. */
  resultOn([offset, length]: Block): AttackResult {
    const size = modulusSize(this.world.policy.modulus);
    const skip = prefixElements(this.world.policy) + offset;
    const inputs = [...this.#inputs.values()].map(({ name, vector }) => ({
      name: length === vector.length ? name : `${name} on entries ${offset} to ${offset + length - 1}`,
      vector: vector.slice(offset, offset + length),
    }));
    const vectors = this.adversary.vectors().map((vector) => vector.subarray(0, skip + length));
    return {
      findings: findingsOf(vectors, inputs, { size, skip }),
      held: this.adversary.held,
      refusals: this.#refusals,
    };
  }

  /** The knowledge, including updates that a sum nearly shows. */
  nearResult(): AttackResult {
    const exact = this.result();
    const scale = { size: modulusSize(this.world.policy.modulus), skip: prefixElements(this.world.policy) };
    const near = nearFindingsOf(this.adversary.vectors(), [...this.#inputs.values()], scale);
    return { ...exact, findings: [...exact.findings, ...near] };
  }

  /**
   * The same device in another process. It starts with the content of the folder, and does not see the later changes of the first process.
   */
  secondProcess(device: FederationDevice): FederationDevice {
    const twin = new FederationDevice(this.world, device.number, device.signer);
    Object.assign(twin, { deltaId: device.deltaId, ledger: device.ledger, certificate: device.certificate });
    this.#names.set(twin, this.#names.get(device) as string);
    return twin;
  }

  #rememberInput(device: FederationDevice): void {
    if (device.input === undefined) return;
    const name = this.#names.get(device) as string;
    if (this.#colluders.has(device)) this.adversary.knowInput(name, device.input);
    else
      this.#inputs.set(`${name} ${device.input}`, {
        name,
        vector: device.input.slice(prefixElements(this.world.policy)),
      });
  }

  /** Gives the colluder's own seeds to the pool. */
  #pool(device: FederationDevice): void {
    for (const entry of device.records) {
      if (entry.kind === 'frozen') this.adversary.knowSeed(selfName(entry), entry.self);
      if (entry.kind !== 'prepared') continue;
      for (const seed of entry.edges) this.adversary.knowSeed(toHex(commitmentOf(device.suite, seed)), seed);
    }
  }

  #tapServer(): void {
    const { server } = this.world;
    const [seat, deposit, upload] = [server.seat.bind(server), server.deposit.bind(server), server.upload.bind(server)];
    server.seat = (request) => this.lies.seat?.() ?? seat(request);
    server.deposit = (bytes) => {
      this.#wiretap.seeDeposit(server.messages.deposit.decode(bytes));
      const answer = (this.lies.deposit ?? deposit)(bytes);
      if (!(answer instanceof Uint8Array)) this.#serverNos.add(answer);
      else {
        const { ticket, inbox } = server.messages.depositAnswer.decode(answer);
        this.#wiretap.seeInbox(ticket, inbox);
      }
      return answer;
    };
    server.upload = (bytes) => {
      this.#wiretap.seeUpload(bytes);
      const answer = this.lies.upload === undefined ? upload(bytes) : this.lies.upload();
      if (answer.kind === 'refused') this.#serverNos.add(answer);
      return answer;
    };
  }

  #tapAuthority(): void {
    const { authority } = this.world;
    const [issueKey, close] = [authority.issueKey.bind(authority), authority.close.bind(authority)];
    authority.issueKey = (request) => {
      const answer = issueKey(request);
      if (answer instanceof Uint8Array) this.#shareKey(request, answer);
      else this.note(answer, 'authority');
      return answer;
    };
    authority.close = (request) => {
      const answer = close(request);
      if ('kind' in answer) this.note(answer, 'authority');
      else for (const { key } of answer.keys) this.adversary.holdKey(key);
      return answer;
    };
  }

  /** A colluder opens the envelope with its ephemeral key and passes the content on. */
  #shareKey(requestBytes: Uint8Array, answerBytes: Uint8Array): void {
    const { authority, environment } = this.world;
    const { certificate } = authority.messages.keyRequest.decode(requestBytes);
    const colluder = [...this.#colluders].find(
      ({ signer }) => toHex(signer.publicKey) === toHex(certificate.deviceKey),
    );
    if (colluder?.session?.step !== 'slotted') return;
    const { envelope, issued } = authority.messages.keyAnswer.decode(answerBytes);
    const key = openEnvelope(environment.tools.suite, {
      recipientSecret: colluder.session.ephemeralSecret.reveal(),
      requestDigest: issued.requestDigest,
      envelope,
    });
    if (key === undefined) throw new Error('the envelope does not open');
    this.adversary.holdKey(key);
  }
}

/** The session of a device that has one. */
export function sessionOf({ session }: FederationDevice): UserSession {
  if (session === undefined) throw new Error('no session');
  return session;
}
