/** The disk of a device in a federation: its key, its certificate, and the session that it can resume after any crash. */
import type { Signer, Suite } from '@basa/masking';
import { granted, type Refused, type UserId } from '@basa/protocol';
import { type BuiltInput, buildInput, Ledger } from '@basa/protocol/one-shot';
import { Certificate, Councils, Devices, type InputWords } from '@basa/protocol/wire';
import type { World } from './world.ts';

export class FederationDevice {
  readonly world: World;
  /** The number of the device in its federation; it selects the coordinate of its one-hot update. */
  readonly number: number;
  readonly signer: Signer;
  readonly user: UserId;
  certificate: Certificate;
  /** The values it reports for the metrics that the task names. */
  metrics: Readonly<Record<string, number>> = {};
  /** The quantised input of its update. */
  input: Uint32Array | undefined;
  /** On disk: the records of the session with the body of its upload, and the ledger. */
  body: Uint8Array | undefined;
  records: Ledger.UserRecord[] = [];
  ledgerRecords: Ledger.LedgerRecord[] = [];
  ledger: Ledger.DeviceLedger = Ledger.EMPTY_LEDGER;
  session: Ledger.UserSession | undefined;
  /** The number of updates that it had before this one. */
  updates = 0;

  /** Enrols, unless it has a certificate. */
  constructor(world: World, number: number, signer: Signer, certificate?: Certificate) {
    this.world = world;
    this.number = number;
    this.signer = signer;
    this.user = Devices.userIdOf(this.suite, signer.publicKey);
    this.certificate = certificate ?? enrolled(world, signer);
  }

  /** The same device in a copy of its federation. */
  copyIn(world: World): FederationDevice {
    const copy = new FederationDevice(world, this.number, this.signer, this.certificate);
    const { metrics, input, body, records, ledgerRecords, ledger, session, updates } = this;
    copy.records = [...records];
    copy.ledgerRecords = [...ledgerRecords];
    copy.input = input?.slice();
    copy.body = body?.slice();
    return Object.assign(copy, { metrics, ledger, session, updates });
  }

  get suite(): Suite {
    return this.world.environment.tools.suite;
  }

  /** The one-hot update of this device: its number selects the coordinate, modulo the dimension. */
  oneHot(): Float32Array {
    const delta = new Float32Array(this.world.policy.dimension);
    delta[this.number % delta.length] = 1;
    return delta;
  }

  restart(): void {
    const { ledger, session } = Ledger.restoreDevice(this.suite, [...this.ledgerRecords, ...this.records]);
    this.ledger = ledger;
    this.session = session;
  }

  /** Starts over with a new update; the records of the old session are discarded. */
  newUpdate(): void {
    this.updates++;
    this.leave();
  }

  /** Forgets the session, keeps the update. */
  leave(): void {
    this.records = [];
    this.session = undefined;
    this.input = this.body = undefined;
  }

  /** Builds x' of the update. */
  buildVector(rules: InputWords.SumRules, delta: Float32Array): BuiltInput {
    const { environment, randomBytes } = this.world;
    // Rounding may be the same in every run, but noise must be fresh.
    const own = (words: Uint32Array): void => void new Uint8Array(words.buffer).set(randomBytes(words.byteLength));
    const randomWords = rules.privacy === undefined ? environment.randomWords(7) : own;
    return buildInput(rules, { delta, metrics: this.metrics, randomWords });
  }

  /** Makes the records of a step durable together; the device may crash right after. */
  persist<Answer>(
    { state: { ledger, session }, records, answer }: Ledger.DeviceStep<Answer>,
    body?: Uint8Array,
  ): Answer | Refused {
    this.body = body ?? this.body;
    const ofSession = records.filter(Ledger.isSessionRecord);
    this.records.push(...ofSession);
    this.ledgerRecords.push(...records.filter(Ledger.isLedgerRecord));
    this.ledger = ledger;
    for (const _ of ofSession) this.world.persisted('user');
    this.session = session;
    return answer;
  }
}

function enrolled(world: World, { publicKey: deviceKey }: Signer): Certificate {
  const body = { task: world.task, deviceKey };
  const signed = world.authorities.map((authority) => granted(authority.enrol(body)));
  return Councils.agreedOn(Certificate, world.policy, signed) as Certificate;
}
