/** An authority for client tests: the real core of the protocol, with its log in memory. */
import type { Signer } from '@basa/masking';
import { AttributeAuthority, type AuthorityRecord, type AuthorityStep, type Refused } from '@basa/protocol';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';

export class TestAuthority {
  readonly signer: Signer;
  log: AuthorityRecord[] = [];
  core: AttributeAuthority;

  constructor(signer: Signer) {
    this.signer = signer;
    this.core = new AttributeAuthority(this.#ports);
  }

  get publicKey(): Uint8Array {
    return this.signer.publicKey;
  }

  /** Makes a step of the core durable, and returns its answer. */
  persist<Answer>({ records, answer, decidedAt }: AuthorityStep<Answer>): Answer | Refused {
    this.log.push(...records);
    this.core.apply(records, decidedAt);
    return answer;
  }

  /** Starts again from its log, without the head that a witness would keep. */
  restart(): void {
    this.core = AttributeAuthority.restore(this.#ports, this.log);
    this.persist({ ...this.core.start(undefined, nodeRandomBytes(16)), answer: undefined });
  }

  get #ports() {
    const issuerFor = (): never => {
      throw new Error('this authority has no keys for attributes');
    };
    return { suite: nodeSuite, signer: this.signer, issuerFor };
  }
}
