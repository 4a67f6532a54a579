/** The epochs of the authorities of a one-shot task: requested periodically, kept as long as an upload may name them, and handed out. */
import { setTimeout as sleep } from 'node:timers/promises';
import { equalBytes, toHex } from '@basa/masking';
import { EPOCHS_AT_ONCE, Epoch, epochEnd, isEpochOf } from '@basa/protocol/wire';
import type { AuthorityLink } from '../authority/authority-link.ts';
import type { OneShotContext } from './context.ts';

/** The list of one authority. */
interface Listed {
  readonly epochs: readonly Epoch[];
  /** By this node's clock. */
  readonly at: number;
}

const ASKED_EVERY_MS = 5_000;
/** The time for which a list counts. */
const LISTED_MS = 120_000;
/** The minimum time between two requests. */
const SOONEST_MS = 250;
/** An epoch that opens later than this in the future is not kept. */
const EARLY_MS = 300_000;

export class Epochs {
  readonly #context: OneShotContext;
  /** By the index of the authority. */
  readonly #listed = new Map<number, Listed>();
  /** By the hash of the statement. */
  #epochs: ReadonlyMap<string, Epoch> = new Map();
  #asking: Promise<void> | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(context: OneShotContext) {
    this.#context = context;
  }

  /** Asks the authorities if the last time is long enough ago. */
  async look(): Promise<void> {
    if (Math.abs(this.#context.clock() - this.#askedAt) >= ASKED_EVERY_MS) await this.#askAll();
  }

  /**
   * Returns the open epochs that the authorities listed recently. If too few authorities did, they are asked first. If only some lists are
   * missing, they are asked at the usual interval.
   */
  async current(): Promise<readonly Epoch[]> {
    const { authorities, policy, clock } = this.#context;
    if (this.#asking !== undefined) await this.#asking;
    const listing = new Set(this.#open().map(({ authority }) => authority)).size;
    const waitMs = Math.max(0, SOONEST_MS - Math.abs(clock() - this.#askedAt));
    const isNeeded = listing < policy.threshold;
    if (isNeeded) await sleep(waitMs);
    if (isNeeded || (listing < authorities.length && waitMs === 0)) await this.#askAll();
    return this.#open();
  }

  /** Returns the epochs of these statements that this or another node has sent to devices. */
  async named(statements: readonly Uint8Array[]): Promise<ReadonlyMap<string, Epoch>> {
    if (statements.some((statement) => !this.#epochs.has(toHex(statement)))) await this.#read();
    return this.#epochs;
  }

  /** Forgets epochs that no useful upload can name any more. */
  async forget(): Promise<void> {
    const { store, task } = this.#context;
    await store.forgetEpochs(task, await store.now());
  }

  /** By rising index of the authority. */
  #open(): readonly Epoch[] {
    const now = this.#context.clock();
    const recent = [...this.#listed].filter(([, { at }]) => Math.abs(now - at) <= LISTED_MS);
    const inOrder = recent.sort(([one], [other]) => one - other);
    return inOrder.flatMap(([, { epochs }]) => epochs.filter(({ closes }) => now < closes));
  }

  #askAll(): Promise<void> {
    const { authorities, clock, onTrouble } = this.#context;
    this.#askedAt = clock();
    this.#asking ??= Promise.all(
      authorities.map(({ authority, link }) =>
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
    const { task, policy, ports, store, clock } = this.#context;
    const at = clock();
    const epochs = await link.epochs(task);
    const isItsOwn = (epoch: Epoch): boolean =>
      epoch.authority === authority && equalBytes(epoch.task, task) && isEpochOf(ports.suite, policy, epoch);
    if (!epochs.every(isItsOwn)) throw new Error(`authority ${authority} sent an epoch that is not its own`);
    for (const epoch of epochs) {
      const statement = Epoch.statementHash(ports.suite, epoch);
      if (this.#epochs.has(toHex(statement))) continue;
      await this.#needRoom(epoch);
      // One epoch more, for clocks that differ.
      await store.addEpoch(statement, epoch, epochEnd(policy.oneShot, epoch) + policy.oneShot.epochMs);
      await this.#read();
    }
    this.#listed.set(authority, { epochs, at });
  }

  /** An authority that keeps opening epochs could fill every request to the others with them. */
  async #needRoom({ authority, opens }: Epoch): Promise<void> {
    const { ports, policy } = this.#context;
    const isEarly = opens > (await this.#context.store.now()) + EARLY_MS;
    await this.forget();
    await this.#read();
    const own = [...this.#epochs.values()].filter(
      (epoch) => epoch.authority === authority && isEpochOf(ports.suite, policy, epoch),
    );
    if (isEarly || own.length >= EPOCHS_AT_ONCE) throw new Error(`authority ${authority} opens epochs too early`);
  }

  async #read(): Promise<void> {
    const { store, task, ports } = this.#context;
    const epochs = await store.epochs(task);
    this.#epochs = new Map(epochs.map((epoch) => [toHex(Epoch.statementHash(ports.suite, epoch)), epoch]));
  }
}
