/**
 * One device between two durable steps. The store changes first, then the memory. If a step cannot be stored, it has not happened, and
 * nothing is sent.
 */
import { DecodeError, type Suite } from '@basa/masking';
import type { Refused } from '@basa/protocol';
import { Ledger } from '@basa/protocol/one-shot';
import { TaskPolicy } from '@basa/protocol/policy';
import { Certificate, KIND, olderLayout } from '@basa/protocol/wire';
import { StoreError } from '../errors.ts';
import type { DeviceSigner, DeviceStore } from './store.ts';

interface Kept extends Ledger.Device {
  readonly certificate: Certificate | undefined;
  /** Kept so that a returning device asks no authority. */
  readonly policy: TaskPolicy | undefined;
}

export function readEntries(suite: Suite, entries: readonly Uint8Array[]): Kept {
  let kept: Kept = {
    certificate: undefined,
    policy: undefined,
    ledger: Ledger.EMPTY_LEDGER,
    session: undefined,
  };
  // Steps are taken together, because each call copies the ledger.
  let records: Ledger.DeviceRecord[] = [];
  const takeSteps = (): void => {
    kept = { ...kept, ...Ledger.restoreDevice(suite, records, kept) };
    records = [];
  };
  for (const entry of entries) {
    try {
      const read = READERS.get(entry[KIND_OFFSET] ?? 0);
      if (read === undefined) records.push(Ledger.DeviceRecord.decode(entry));
      else {
        takeSteps();
        kept = read(kept, entry);
      }
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      const older = olderLayout(entry);
      const what = older === undefined ? `is damaged (${error.message})` : `has ${older}`;
      throw new StoreError(`the store ${what}; enrol a new device in an empty store`);
    }
  }
  takeSteps();
  return kept;
}

/** Every layout names its kind in its third byte, so an entry identifies itself. */
const KIND_OFFSET = 2;

/** The entries that are no steps of the device. */
const READERS: ReadonlyMap<number, (kept: Kept, entry: Uint8Array) => Kept> = new Map<
  number,
  (kept: Kept, entry: Uint8Array) => Kept
>([
  [KIND.certificate, (kept, entry) => ({ ...kept, certificate: Certificate.decode(entry) })],
  [KIND.policy, (kept, entry) => ({ ...kept, policy: TaskPolicy.decode(entry) })],
]);

/** The entries that outlive a session. */
function lastingEntries({ certificate, policy, ledger }: Omit<Kept, 'session'>): Uint8Array[] {
  const records: Ledger.LedgerRecord[] = ledger.given === undefined ? [] : [{ kind: 'given', ...ledger.given }];
  return [
    ...(certificate === undefined ? [] : [Certificate.encode(certificate)]),
    ...(policy === undefined ? [] : [TaskPolicy.encode(policy)]),
    ...records.map(Ledger.DeviceRecord.encode),
  ];
}

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

  get ledger(): Ledger.DeviceLedger {
    return this.#kept.ledger;
  }

  get session(): Ledger.UserSession | undefined {
    return this.#kept.session;
  }

  async keepCertificate(certificate: Certificate): Promise<void> {
    await this.#durably((store) => store.append([Certificate.encode(certificate)]));
    this.#kept = { ...this.#kept, certificate };
  }

  async keepPolicy(policy: TaskPolicy): Promise<void> {
    await this.#durably((store) => store.append([TaskPolicy.encode(policy)]));
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
    { state: { ledger, session }, records, answer }: Ledger.DeviceStep<Answer>,
    body?: Uint8Array,
  ): Promise<Answer | Refused> {
    if (records.length === 0) return answer;
    if (session?.step === 'acknowledged') {
      await this.#end(ledger);
      return answer;
    }
    const entries = records.map(Ledger.DeviceRecord.encode);
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

  async #end(ledger: Ledger.DeviceLedger): Promise<void> {
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
