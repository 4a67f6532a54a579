/**
 * The core with its disk: every step's records are durable in one transaction before the step is confirmed, the witness
 * follows, and only then may the answer leave. All of it is synchronous: one step at a time, by construction.
 */
import type { RandomBytes, Signer } from '@basa/masking';
import type {
  AuthorityRecord,
  AuthorityStep,
  BasaEvent,
  BufferRequest,
  Descriptor,
  Head,
  Millis,
  PastLog,
  Refused,
} from '@basa/protocol';
import {
  AttributeAuthority,
  decodeAuthorityRecord,
  EMPTY_LOG_HASH,
  encodeAuthorityRecord,
  headCodec,
  nextLogHash,
  recordNames,
  refused,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { Directory } from './directory.ts';
import type { KeyEpochs } from './key-epochs.ts';
import { replayLog } from './replay-log.ts';
import type { AuthorityStore, StoredRecord } from './store.ts';
import type { Witness } from './witness.ts';

export interface DurableAuthorityTools {
  readonly store: AuthorityStore;
  readonly signer: Signer;
  readonly epochs: KeyEpochs;
  readonly witness: Witness;
  readonly randomBytes: RandomBytes;
  readonly epochMs: number;
  /** How long the keys of a closed buffer can be asked for again, if its sum never became a model. */
  readonly closedGraceMs: number;
  onEvent(event: BasaEvent): void;
}

/** What is written in the transaction of a step besides its records. */
export interface Alongside {
  write(): void;
  /** It is durable. */
  written?(): void;
}

/** A record as it is stored, with what it is found by. */
interface Chained extends StoredRecord {
  readonly names: readonly Uint8Array[];
}

export class DurableAuthority {
  readonly core: AttributeAuthority;
  readonly directory: Directory = new Directory();
  readonly #tools: DurableAuthorityTools;
  #sequence = 0;
  #hash: Uint8Array = EMPTY_LOG_HASH;
  /** How far the witness has come; before the start it is not known. */
  #witnessed = -1;
  #head: { readonly sequence: number; readonly bytes: Uint8Array } | undefined;

  /** Replays the log and checks its hash chain. Nothing is written but names that are missing. */
  constructor(tools: DurableAuthorityTools) {
    this.#tools = tools;
    const ports = {
      suite: nodeSuite,
      signer: tools.signer,
      issuerFor: (sealingKey: Uint8Array) => tools.epochs.issuerFor(sealingKey),
    };
    const { store } = tools;
    const past: PastLog = {
      hashAt: (sequence) => store.hashAt(sequence),
      named: (name) => store.recordsNamed(name).map(decodeAuthorityRecord),
    };
    this.core = store.atomically(() => AttributeAuthority.restore(ports, this.#replayed(), past));
  }

  /** A new log has nothing to compare; the witness begins with it. */
  startNew(): void {
    this.#follow();
  }

  /** Compares the log with the witness: what others may have seen and is not here any more, was rolled back. */
  start(): void {
    const { witness, randomBytes } = this.#tools;
    this.take(this.core.start(witness.read(), randomBytes(16)));
  }

  /** Makes the step durable, then true; gives its answer. */
  take<Answer>(step: AuthorityStep<Answer>, alongside?: Alongside): Answer | Refused {
    const { records, answer, events } = step;
    if (records.length > 0) {
      const stored = this.#chained(records);
      try {
        this.#tools.store.atomically(() => {
          this.#append(stored);
          alongside?.write();
        });
      } catch (error) {
        this.core.discard();
        throw error;
      }
      this.core.confirm();
      alongside?.written?.();
      this.#advance(records, stored.at(-1)?.hash ?? this.#hash);
    }
    this.#follow();
    for (const event of events) this.#tools.onEvent(event);
    return answer;
  }

  /** The newest head, for every answer. */
  headBytes(): Uint8Array {
    if (this.#head?.sequence !== this.#sequence) {
      this.#head = { sequence: this.#sequence, bytes: headCodec.encode(this.core.head()) };
    }
    return this.#head.bytes;
  }

  /** Somebody shows a head it was given. */
  meet(seen: Head): void {
    this.take(this.core.meetHead(seen, this.#tools.randomBytes(16)));
  }

  drawBuffer(request: BufferRequest, now: Millis): Descriptor | Refused {
    const { epochs, randomBytes } = this.#tools;
    const known = this.directory.task(request.task);
    if (known === undefined) return refused('task-unknown');
    const sealingKey = epochs.publicKeyOf(known.task, known.policy.engine, this.#epochAt(now));
    const step = this.core.drawBuffer(request, { bufferId: randomBytes(16), sealingKey }, now);
    return this.take(step, {
      write: () => epochs.store(sealingKey),
      written: () => epochs.confirm(sealingKey),
    });
  }

  /** Aborts what is overdue, and destroys the keys of epochs that nothing needs any more. */
  tick(now: Millis): void {
    const { epochs, closedGraceMs } = this.#tools;
    this.take(this.core.tick(now));
    this.directory.forgetClosed(now - closedGraceMs);
    epochs.destroyOver(this.#epochAt(now), (sealingKey) => !this.directory.needs(sealingKey));
  }

  /** The witness follows before an answer leaves, also where it could not the last time. */
  #follow(): void {
    if (this.#witnessed === this.#sequence) return;
    this.#tools.witness.write(this.core.head());
    this.#witnessed = this.#sequence;
  }

  #epochAt(now: Millis): number {
    return Math.floor(now / this.#tools.epochMs);
  }

  *#replayed(): Generator<AuthorityRecord> {
    for (const { entry, sequence, hash } of replayLog(this.#tools.store)) {
      this.#tools.store.name(sequence, recordNames(nodeSuite, entry));
      this.#advance([entry], hash);
      yield entry;
    }
  }

  #chained(records: readonly AuthorityRecord[]): readonly Chained[] {
    let hash = this.#hash;
    return records.map((entry) => {
      hash = nextLogHash(nodeSuite, hash, entry);
      return { bytes: encodeAuthorityRecord(entry), hash, names: recordNames(nodeSuite, entry) };
    });
  }

  #append(chained: readonly Chained[]): void {
    for (const [n, { names, ...stored }] of chained.entries()) {
      const sequence = this.#sequence + n + 1;
      this.#tools.store.append(sequence, stored);
      this.#tools.store.name(sequence, names);
    }
  }

  #advance(records: readonly AuthorityRecord[], hash: Uint8Array): void {
    this.#sequence += records.length;
    this.#hash = hash;
    for (const entry of records) this.directory.add(entry);
  }
}
