/**
 * The authority with its database. A step is computed, and is durable before it is witnessed, and witnessed before it is
 * true here; only then may the answer leave. There is one step at a time. Waiting steps are taken together: each is
 * computed on the results of those before it, and one transaction and one witness cover all of them.
 */
import type { RandomBytes, Signer } from '@basa/masking';
import {
  type AttributeAuthority,
  type AuthorityStep,
  type BasaEvent,
  type Head,
  headCodec,
  type Millis,
  millis,
  type Refused,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { createQueue } from '@basa/service';
import type { Directory } from '../log/directory.ts';
import { LogView } from '../log/log-view.ts';
import type { AuthorityStore } from '../store/store.ts';
import type { AuthorityTables } from '../store/tables.ts';
import type { Witness } from '../store/witness.ts';
import { type Step, type Taken, tried, WaitingSteps } from './waiting-steps.ts';

export interface DurableAuthorityTools {
  readonly store: AuthorityStore;
  readonly signer: Signer;
  readonly witness: Witness;
  readonly randomBytes: RandomBytes;
  onEvent(event: BasaEvent): void;
}

/** The tools of a step. */
export interface LogTransaction {
  readonly tables: AuthorityTables;
  readonly core: AttributeAuthority;
  readonly directory: Directory;
  readonly now: Millis;
  /** For computations in which the core looks up records in its log; records with these names are read together first. */
  compute<Result>(compute: () => Result, names?: readonly Uint8Array[]): Promise<Result>;
}

interface KnownHead {
  readonly sequence: number;
  readonly head: Head;
  readonly bytes: Uint8Array;
}

export class DurableAuthority {
  readonly #tools: DurableAuthorityTools;
  readonly #queue = createQueue();
  readonly #waiting = new WaitingSteps((steps) => this.#queue(() => this.#takenTogether(steps())));
  readonly #view: LogView;
  /** The position of the witness; unknown before the start. */
  #witnessed = -1;
  #head: KnownHead | undefined;

  private constructor(tools: DurableAuthorityTools) {
    this.#tools = tools;
    this.#view = new LogView({ suite: nodeSuite, signer: tools.signer });
  }

  /** Reads the log and checks its hash chain. Nothing is written. */
  static async open(tools: DurableAuthorityTools): Promise<DurableAuthority> {
    const authority = new DurableAuthority(tools);
    await tools.store.transaction((tables) => authority.#begin(tables));
    return authority;
  }

  get core(): AttributeAuthority {
    return this.#view.core;
  }

  /** The number of records of the log. */
  get sequence(): number {
    return this.#view.sequence;
  }

  get directory(): Directory {
    return this.#view.directory;
  }

  /**
   * Compares the log with the witness: records that others may have seen but that are missing here were rolled back.
   * Without a witness, only a log without records has nothing to compare.
   */
  async start(): Promise<void> {
    const { witness, randomBytes } = this.#tools;
    const kept = witness.read();
    if (kept === undefined && this.#view.sequence === 0) await this.#witness();
    else await this.step((core) => core.start(kept, randomBytes(16)));
  }

  /** Takes a step: makes it durable, then true; returns its answer. */
  step<Answer>(step: Step<Answer>): Promise<Answer | Refused> {
    return this.#waiting.add(step);
  }

  /** A step that reads or writes more than the log, in the same transaction. */
  take<Answer>(work: (log: LogTransaction) => Promise<AuthorityStep<Answer>>): Promise<Answer | Refused> {
    return this.#queue(() => this.#taken(work));
  }

  /** A step that rarely changes anything. */
  async ask<Answer>(step: Step<Answer>): Promise<Answer | Refused> {
    const { records, answer } = await this.#look(step);
    return records.length === 0 ? answer : this.step(step);
  }

  /** Computes an answer on the database's state at the time of the call. Records with these names are read together first. */
  look<Result>(
    compute: (core: AttributeAuthority, now: Millis) => Result,
    names?: readonly Uint8Array[],
  ): Promise<Result> {
    return this.#look(compute, names);
  }

  /** Runs work on tables other than the log's, between steps. */
  locked<Result>(work: (log: LogTransaction) => Promise<Result>): Promise<Result> {
    return this.#queue(() => this.#tools.store.transaction(async (tables) => work(await this.#begin(tables))));
  }

  /** The newest head, for every answer. */
  headBytes(): Uint8Array {
    return this.#currentHead().bytes;
  }

  /** A party shows a head it was given. */
  async meet(seen: Head): Promise<void> {
    if (this.#view.isRecent(seen, this.#currentHead().head.branch)) return;
    const branch = this.#tools.randomBytes(16);
    await this.ask((core) => core.meetHead(seen, branch));
  }

  #takenTogether(steps: readonly Step<unknown>[]): Promise<readonly Taken[]> {
    return this.#commit(async ({ compute, core, now }, add) => {
      const taken: Taken[] = [];
      for (const step of steps) {
        const outcome = await compute(() => tried(() => step(core, now)));
        if ('step' in outcome) add(outcome.step);
        taken.push(outcome);
      }
      return taken;
    });
  }

  #taken<Answer>(work: (log: LogTransaction) => Promise<AuthorityStep<Answer>>): Promise<Answer | Refused> {
    return this.#commit(async (log, add) => {
      const step = await work(log);
      add(step);
      return step.answer;
    });
  }

  /** New records are durable, then witnessed, then true. The core of `work` is a draft, which continues with the new records. */
  async #commit<Result>(
    work: (log: LogTransaction, add: (step: AuthorityStep<unknown>) => void) => Promise<Result>,
  ): Promise<Result> {
    const { store, onEvent } = this.#tools;
    const view = this.#view;
    const { steps, result, end, draft } = await store.transaction(async (tables) => {
      const log = await this.#begin(tables);
      const core = log.core.draft();
      const added: AuthorityStep<unknown>[] = [];
      const worked = await work({ ...log, core }, (step) => {
        core.apply(step.records, step.decidedAt);
        added.push(step);
      });
      const records = added.flatMap((step) => step.records);
      return { steps: added, result: worked, end: await view.append(tables, records), draft: core };
    });
    await this.#witness(draft, end.sequence);
    view.apply(steps, end);
    for (const event of steps.flatMap(({ events }) => events)) onEvent(event);
    return result;
  }

  #look<Result>(
    compute: (core: AttributeAuthority, now: Millis) => Result,
    names?: readonly Uint8Array[],
  ): Promise<Result> {
    return this.#queue(async () => {
      const result = await this.#tools.store.transaction(async (tables) => {
        const log = await this.#begin(tables);
        return log.compute(() => compute(log.core, log.now), names);
      });
      await this.#witness();
      return result;
    });
  }

  /** Reads records whose step failed after they were durable. */
  async #begin(tables: AuthorityTables): Promise<LogTransaction> {
    const { core, directory } = this.#view;
    await this.#view.follow(tables, await tables.end());
    const now = millis(await tables.now());
    return { tables, core, directory, now, compute: (compute, names) => this.#view.compute(tables, compute, names) };
  }

  /** The witness is written before an answer leaves, also if the last attempt failed. */
  async #witness(core: AttributeAuthority = this.core, sequence: number = this.#view.sequence): Promise<void> {
    if (this.#witnessed === sequence) return;
    const head = headAt(core, sequence);
    await this.#tools.witness.write(head.head);
    this.#witnessed = sequence;
    this.#head = head;
  }

  #currentHead(): KnownHead {
    const { core, sequence } = this.#view;
    if (this.#head?.sequence !== sequence) this.#head = headAt(core, sequence);
    return this.#head;
  }
}

function headAt(core: AttributeAuthority, sequence: number): KnownHead {
  const head = core.head();
  return { sequence, head, bytes: headCodec.encode(head) };
}
