/**
 * Versions without sums. After a succession or a rollback, the authorities have given up everything open, and all devices may have given
 * their updates on the newest version: the model is repeated once under another number, so that they can give again.
 */
import { equalBytes } from '@basa/masking';
import { isEndorsed, type ModelEntry, modelEntryCodec, type ServerPorts } from '@basa/protocol';
import { AuthorityRefusal } from '../authority/authority-http.ts';
import type { Fence } from '../store/leases.ts';
import type { StoredModel } from '../store/models.ts';
import { branchNote } from '../store/tasks.ts';
import { type ModelKeeper, type ModelKeeperOptions, NONE, NOTHING } from './model-keeper.ts';

export interface RepeatsOptions extends Pick<ModelKeeperOptions, 'task' | 'read' | 'store' | 'authorities'> {
  readonly models: ModelKeeper;
  readonly ports: Pick<ServerPorts, 'suite'>;
}

/** True for a version after version 0 that comes from no sum. */
function isRepeat({ version, accepted, dropped }: StoredModel): boolean {
  return version > 0 && accepted + dropped === 0;
}

/** True if the entry is of this version and model. */
function isOf({ version, modelHash }: StoredModel, entry: ModelEntry | undefined): boolean {
  return entry?.version === version && equalBytes(entry.modelHash, modelHash);
}

export class Repeats {
  readonly #options: RepeatsOptions;

  constructor(options: RepeatsOptions) {
    this.#options = options;
  }

  /**
   * After a succession: the authorities of the new term sign the newest version again. A version that was on its way to their logs comes
   * to its end before that, because some of them may have it. Then the version is repeated. The repeated one is stored first, so that a
   * crash does not lose it.
   *
   * The newest version in their logs may be unknown here, because a thief of the old key made it. It is signed again without its model, and
   * the newest stored model is repeated after it. A version that was on its way is dropped, because the thief's has its number.
   */
  async inTerm(fence?: Fence): Promise<void> {
    const { store, task, authorities, models } = this.#options;
    await models.refresh();
    const { newest } = models;
    const last = await store.newestModel(task, 'any');
    if (newest?.entry === undefined || last === undefined) return;
    const pending = last.version > newest.version ? last : undefined;
    if (this.#isOfTerm(newest.entry)) {
      if (pending !== undefined && isRepeat(pending)) await this.#log(pending, newest.entry);
      return;
    }
    const told = await authorities.newerThan(newest.entry);
    const isAwaited = pending !== undefined && (told.length === 0 || isOf(pending, told[0]));
    if (isAwaited && !isRepeat(pending)) return;
    const renewed = await this.#renewed([...told, newest.entry]);
    if (pending !== undefined && isOf(pending, renewed)) {
      // The repeat of an earlier term was in a log. No device has trained on it, so it is signed again and not repeated.
      await store.setEntry(renewed);
      return models.refresh();
    }
    const version = renewed.version + 1;
    const isNext = pending?.version === version && isRepeat(pending);
    if (pending !== undefined && !isNext) await this.#drop(pending, fence);
    const repeated = isNext ? pending : await models.repeat(NOTHING, NONE, fence, version);
    if (renewed.version === newest.version) await store.setEntry(renewed);
    await this.#log(repeated, renewed);
  }

  /** The first of these that the authorities sign in this term: with stolen keys of an early term, a lying one can tell of others. */
  async #renewed([entry, ...others]: readonly ModelEntry[]): Promise<ModelEntry> {
    if (entry === undefined) throw new Error('there is no version to sign again');
    return this.#options.authorities.renewModel(entry).catch((error: unknown) => {
      if (error instanceof AuthorityRefusal && others.length > 0) return this.#renewed(others);
      throw error;
    });
  }

  async #log(repeated: StoredModel, before: ModelEntry): Promise<void> {
    const { store, models } = this.#options;
    await store.setEntry(await models.log(repeated, NOTHING, [], before));
    await models.refresh();
  }

  async #drop(pending: StoredModel, fence: Fence | undefined): Promise<void> {
    await this.#options.store.dropPending(pending.task, pending.version, fence);
    await this.#options.models.discard(pending);
  }

  #isOfTerm(entry: ModelEntry): boolean {
    const { ports, read } = this.#options;
    return isEndorsed(ports.suite, modelEntryCodec, read.policy, entry);
  }

  /** True if the only authority has begun a branch of its log, now or long ago. */
  get isBranched(): boolean {
    const { read, authorities } = this.#options;
    return read.mode !== 'paper' && authorities.branch !== undefined;
  }

  /**
   * After a rollback the only authority of a task allows one version without sums. It gave up everything open, so all devices may have given
   * their updates on the newest version. It is asked for once in each branch. If the authority refuses it, it has signed nothing of this
   * number, so the next version of sums can take it. Of several authorities only some might refuse: they are never asked.
   */
  async inBranch(fence: Fence | undefined): Promise<void> {
    const { store, task, authorities, models } = this.#options;
    const { branch } = authorities;
    const note = branchNote(task);
    const asked = await store.note(note);
    if (branch === undefined || (asked !== undefined && equalBytes(asked, branch))) return;
    await models.refresh();
    const { newest } = models;
    const last = await store.newestModel(task, 'any');
    if (newest?.entry === undefined || !this.#isOfTerm(newest.entry)) return;
    const isPending = last !== undefined && last.version > newest.version;
    if (isPending && !isRepeat(last)) return; // a version of sums is on its way
    const repeated = isPending ? last : await models.repeat(NOTHING, NONE, fence);
    try {
      await store.setEntry(await models.log(repeated, NOTHING, []));
    } catch (error) {
      if (!(error instanceof AuthorityRefusal)) throw error;
      await this.#drop(repeated, fence);
    }
    await store.changeNote(note, () => branch);
    await models.refresh();
  }
}
