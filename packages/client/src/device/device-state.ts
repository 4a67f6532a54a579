/**
 * One device between two durable steps. The store changes first, then the memory. If a step cannot be stored, it has not happened, and
 * nothing is sent.
 */
import type { Suite } from '@basa/masking';
import type { Refused } from '@basa/protocol';
import { type DeviceLedger, type DeviceStep, deviceRecordCodec, type UserSession } from '@basa/protocol/one-shot';
import { encodePolicy, type TaskPolicy } from '@basa/protocol/policy';
import { type Certificate, certificateCodec } from '@basa/protocol/wire';
import { StoreError } from '../errors.ts';
import type { DeviceSigner, DeviceStore } from './device-store.ts';
import { type Kept, lastingEntries, readEntries } from './kept.ts';

export class DeviceState {
  readonly #store: DeviceStore;
  #kept: Kept;
  #failure: unknown;

  private constructor(store: DeviceStore, kept: Kept) {
    this.#store = store;
    this.#kept = kept;
  }

  static async open(suite: Suite, store: DeviceStore): Promise<DeviceState> {
    const kept = readEntries(suite, await store.entries());
    if (kept.session === undefined) await store.dropBody(); // a crash left it behind
    return new DeviceState(store, kept);
  }

  get signer(): DeviceSigner {
    return this.#store.signer;
  }

  get certificate(): Certificate | undefined {
    return this.#kept.certificate;
  }

  get policy(): TaskPolicy | undefined {
    return this.#kept.policy;
  }

  get ledger(): DeviceLedger {
    return this.#kept.ledger;
  }

  get session(): UserSession | undefined {
    return this.#kept.session;
  }

  async keepCertificate(certificate: Certificate): Promise<void> {
    await this.#durably((store) => store.append([certificateCodec.encode(certificate)]));
    this.#kept = { ...this.#kept, certificate };
  }

  async keepPolicy(policy: TaskPolicy): Promise<void> {
    await this.#durably((store) => store.append([encodePolicy(policy)]));
    this.#kept = { ...this.#kept, policy };
  }

  /** The device goes on in the task that succeeds this one: it keeps its key, and what it gave and spent. */
  async succeed(): Promise<void> {
    const kept = { certificate: undefined, policy: undefined, ledger: this.#kept.ledger };
    await this.#durably((store) => store.replace(lastingEntries(kept)));
    await this.#durably((store) => store.dropBody());
    this.#kept = { ...kept, session: undefined };
  }

  /** Makes a step durable, together with the body of its upload, and only then takes it. */
  async take<Answer>(
    { state: { ledger, session }, records, answer }: DeviceStep<Answer>,
    body?: Uint8Array,
  ): Promise<Answer | Refused> {
    if (records.length === 0) return answer;
    if (session?.step === 'acknowledged') {
      await this.#end(ledger);
      return answer;
    }
    const entries = records.map(deviceRecordCodec.encode);
    await this.#durably((store) => store.append(entries, body));
    this.#kept = { ...this.#kept, ledger, session };
    return answer;
  }

  /** Ends a session whose bytes are no longer needed. The ledger still counts the contribution. */
  dropSession(): Promise<void> {
    return this.#end(this.ledger);
  }

  /** The body of the session's upload. */
  body(): Promise<Uint8Array | undefined> {
    return this.#store.body();
  }

  /** Releases the lock. */
  close(): Promise<void> {
    return this.#store.close();
  }

  async #end(ledger: DeviceLedger): Promise<void> {
    await this.#durably((store) => store.replace(lastingEntries({ ...this.#kept, ledger })));
    await this.#durably((store) => store.dropBody());
    this.#kept = { ...this.#kept, ledger, session: undefined };
  }

  /** After a failed write it is unknown whether the step is on disk: nothing continues until the store is opened again. */
  async #durably(work: (store: DeviceStore) => Promise<void>): Promise<void> {
    if (this.#failure !== undefined) {
      throw new StoreError('the store failed before; close this client and connect again', { cause: this.#failure });
    }
    try {
      await work(this.#store);
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }
}
