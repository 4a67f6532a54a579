/** The current statements of the authorities of a one-shot task: requested periodically, kept as long as an upload may name them, and handed out. */
import { setTimeout as sleep } from 'node:timers/promises';
import { equalBytes, toHex } from '@basa/masking';
import {
  type AuthorityStanding,
  EPOCHS_AT_ONCE,
  type Epoch,
  epochCodec,
  epochEnd,
  isEpochOf,
  type OneShotPolicy,
  type ServerPorts,
  type TaskId,
  type TaskPolicy,
} from '@basa/protocol';
import type { AuthorityLink } from '../authority/authority-link.ts';
import type { TaskAuthorities } from '../authority/task-authorities.ts';
import type { Store } from '../store/store.ts';

export interface StandingsOptions {
  readonly task: TaskId;
  readonly policy: TaskPolicy & { readonly oneShot: OneShotPolicy };
  readonly ports: ServerPorts;
  readonly store: Store;
  readonly authorities: TaskAuthorities;
  /** The clock of this node. */
  readonly clock: () => number;
  onTrouble(what: string, error: unknown): void;
}

interface Heard {
  readonly standing: AuthorityStanding;
  /** By this node's clock. */
  readonly at: number;
}

/** The number of requests to authorities within the time that a standing may be old. */
const ASKED_PER_FRESH = 20;
const LONGEST_MS = 5_000;
/** The minimum time between two requests. */
const SOONEST_MS = 250;

export class Standings {
  readonly #options: StandingsOptions;
  /** By the index of the authority. */
  readonly #heard = new Map<number, Heard>();
  /** By the hash of the statement. */
  #epochs: ReadonlyMap<string, Epoch> = new Map();
  #asking: Promise<void> | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(options: StandingsOptions) {
    this.#options = options;
  }

  /** Asks the authorities if the last time is long enough ago. */
  async look(): Promise<void> {
    const everyMs = Math.min(LONGEST_MS, this.#freshMs / ASKED_PER_FRESH);
    if (Math.abs(this.#options.clock() - this.#askedAt) >= everyMs) await this.#askAll();
  }

  /**
   * Returns the recent statements of all authorities, by rising index. If too few statements are at this version, the authorities are asked
   * first, because a device may have learned about the version from another node. If only some statements are missing or old, the
   * authorities are asked at the usual interval.
   */
  async current(version: number): Promise<readonly AuthorityStanding[]> {
    const { authorities, policy, clock } = this.#options;
    if (this.#asking !== undefined) await this.#asking;
    const recent = this.#within(this.#freshMs / 4).filter(({ beacon }) => beacon.entry.version >= version);
    const waitMs = Math.max(0, SOONEST_MS - Math.abs(clock() - this.#askedAt));
    const isNeeded = recent.length < policy.threshold;
    if (isNeeded) await sleep(waitMs);
    if (isNeeded || (recent.length < authorities.members.length && waitMs === 0)) await this.#askAll();
    return this.#within(this.#freshMs / 2);
  }

  /** Returns the epochs of these statements that this or another node has sent to devices. */
  async epochs(statements: readonly Uint8Array[]): Promise<ReadonlyMap<string, Epoch>> {
    if (statements.some((statement) => !this.#epochs.has(toHex(statement)))) await this.#read();
    return this.#epochs;
  }

  /** Forgets epochs that no useful upload can name any more. */
  async forget(): Promise<void> {
    const { store, task } = this.#options;
    await store.forgetEpochs(task, await store.now());
  }

  #within(ms: number): readonly AuthorityStanding[] {
    const now = this.#options.clock();
    const heard = [...this.#heard.values()].filter(
      ({ at, standing }) => Math.abs(now - at) <= ms && now < standing.epoch.closes,
    );
    return heard.map(({ standing }) => standing).sort((a, b) => a.authority - b.authority);
  }

  get #freshMs(): number {
    return this.#options.policy.oneShot.freshMs;
  }

  #askAll(): Promise<void> {
    const { authorities, clock, onTrouble } = this.#options;
    this.#askedAt = clock();
    this.#asking ??= Promise.all(
      authorities.members.map(({ authority, link }) =>
        this.#ask(authority, link).catch((error: unknown) => onTrouble('an authority does not send its epoch', error)),
      ),
    )
      .then(() => undefined)
      .finally(() => {
        this.#asking = undefined;
      });
    return this.#asking;
  }

  /** Durable before a device can name it. */
  async #ask(authority: number, link: AuthorityLink): Promise<void> {
    const { task, policy, ports, store, clock } = this.#options;
    const at = clock();
    const standing = await link.standing(task);
    const { epoch, beacon } = standing;
    const isItsOwn = [standing, epoch, beacon].every((one) => one.authority === authority);
    if (!isItsOwn || !equalBytes(epoch.task, task) || !isEpochOf(ports.suite, policy, epoch))
      throw new Error(`authority ${authority} sent an epoch that is not its own`);
    const statement = epochCodec.statementHash(ports.suite, epoch);
    if (!this.#epochs.has(toHex(statement))) {
      await this.#needRoom(epoch);
      // One epoch more, for clocks that differ.
      await store.addEpoch(statement, epoch, epochEnd(policy.oneShot, epoch) + policy.oneShot.epochMs);
      await this.#read();
    }
    this.#heard.set(authority, { standing, at });
  }

  /**
   * An authority that keeps opening epochs could fill every request to the others with them. Epochs of an earlier term take no room: the
   * key that signed them may have been stolen and replaced.
   */
  async #needRoom({ authority, opens }: Epoch): Promise<void> {
    const { ports, policy } = this.#options;
    const isEarly = opens > (await this.#options.store.now()) + this.#freshMs;
    await this.forget();
    await this.#read();
    const own = [...this.#epochs.values()].filter(
      (epoch) => epoch.authority === authority && isEpochOf(ports.suite, policy, epoch),
    );
    if (isEarly || own.length >= EPOCHS_AT_ONCE) throw new Error(`authority ${authority} opens epochs too early`);
  }

  async #read(): Promise<void> {
    const { store, task, ports } = this.#options;
    const epochs = await store.epochs(task);
    this.#epochs = new Map(epochs.map((epoch) => [toHex(epochCodec.statementHash(ports.suite, epoch)), epoch]));
  }
}
