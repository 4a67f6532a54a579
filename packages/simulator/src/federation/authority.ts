/** The log of an authority in a federation: the real state machine, its records on disk, and a witness of its head. */
import type { Signer } from '@basa/masking';
import {
  AttributeAuthority,
  type AuthorityPorts,
  type AuthorityRecord,
  type AuthorityStep,
  type Certificate,
  type CertificateBody,
  certificateCodec,
  decodeAuthorityRecord,
  encodeAuthorityRecord,
  type Head,
  isRefused,
  type Refused,
} from '@basa/protocol';
import type { AuthorityWorld } from './world.ts';

export class FederationAuthority {
  readonly world: AuthorityWorld;
  readonly ports: AuthorityPorts;
  /** The log on disk, and the head that the witness keeps. */
  log: AuthorityRecord[] = [];
  witness: Head | undefined;
  core: AttributeAuthority;

  readonly index: number;

  constructor(world: AuthorityWorld, signer: Signer, index: number) {
    this.world = world;
    this.index = index;
    this.ports = { suite: world.environment.tools.suite, signer };
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

  /** Takes over the state of the same authority in another federation. */
  continue({ log, witness, core }: FederationAuthority): void {
    this.log = [...log];
    this.witness = witness;
    this.core = core.draft();
  }

  restart(): void {
    this.core = AttributeAuthority.restore(this.ports, this.records);
    const { records } = this.core.start(this.witness, this.world.randomBytes(16));
    this.log.push(...records);
    this.core.apply(records);
    if (records.length > 0) this.witness = this.core.head();
  }

  /** Returns another life of the log in its current state: restored elsewhere and started without a witness, as in a drill. */
  lostLife(): AttributeAuthority {
    const copy = AttributeAuthority.restore(this.ports, this.records);
    copy.apply(copy.start(undefined, this.world.randomBytes(16)).records);
    return copy;
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
  return isRefused(answer) ? answer : codec.decode(codec.encode(answer));
}
