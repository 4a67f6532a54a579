/** The server's requests to all authorities of one task: models are signed by enough of them. With one authority this is one call. */
import { equalBytes } from '@basa/masking';
import {
  agreedOn,
  type Ctx,
  FIRST_BRANCH,
  hasGoodEndorsements,
  type ModelEntry,
  modelEntryCodec,
  type ServerPorts,
  type TaskId,
  type TaskPolicy,
  taskIdOf,
  type Vote,
} from '@basa/protocol';
import { AuthorityRefusal, AuthorityUnreachable } from './authority-http.ts';
import type { AuthorityLink } from './authority-link.ts';
import { type Answered, gather } from './gather.ts';

export interface Member {
  readonly authority: number;
  readonly link: AuthorityLink;
}

export interface TaskAuthoritiesOptions {
  readonly task: TaskId;
  readonly policy: TaskPolicy;
  readonly ports: ServerPorts;
  /** By index; missing for those whose address this server does not have. */
  readonly links: readonly (AuthorityLink | undefined)[];
  /** The time for which authorities that are not needed are awaited. */
  readonly graceMs: number;
  readonly clock: () => number;
}

/** The input for logging a version. */
export interface Append {
  readonly version: number;
  readonly modelHash: Uint8Array;
  /** The sums it is made of; empty for version 0. */
  readonly sums: readonly Ctx[];
  /** Sums that were closed as well, and left out. */
  readonly spoilt: readonly Ctx[];
  /** The votes for the close of all of them. */
  readonly closed: readonly Vote[];
}

export class TaskAuthorities {
  readonly #options: TaskAuthoritiesOptions;

  constructor(options: TaskAuthoritiesOptions) {
    this.#options = options;
  }

  /** Throws if too few of them know the policy. */
  async checkPolicy(): Promise<void> {
    const { task, ports } = this.#options;
    await this.#ofEnough(async ({ link }) => {
      if (!equalBytes(taskIdOf(ports.suite, await link.policy(task)), task))
        throw new AuthorityUnreachable('it sent the policy of another task');
    });
  }

  /**
   * Returns the entry that enough of them signed. It is shown to all, so that they tell devices about it; `before` is
   * the version that it follows, for an authority that was away.
   */
  async appendModel(append: Append, before: ModelEntry | undefined): Promise<ModelEntry> {
    const { policy } = this.#options;
    const agreed = (signed: readonly Answered<ModelEntry>[]): ModelEntry | undefined =>
      agreedOn(
        modelEntryCodec,
        policy,
        signed.map(({ answer }) => answer),
      );
    const entry = agreed(
      await this.#ofEnough(
        async ({ link }) => this.#checked(append, before, await this.#appendedAt(link, append, before)),
        (signed) => agreed(signed) !== undefined,
      ),
    );
    if (entry === undefined) throw new AuthorityUnreachable('the authorities have different models in their logs');
    if (policy.threshold > 1) await this.#ofEnough(({ link }) => link.adoptModel(entry));
    return entry;
  }

  /** The branch that the log of the only authority is in. Undefined if it was never rolled back, and if there are several authorities. */
  get branch(): Uint8Array | undefined {
    const { policy, links } = this.#options;
    const branch = policy.authorities.length === 1 ? links[0]?.head?.branch : undefined;
    return branch === undefined || equalBytes(branch, FIRST_BRANCH) ? undefined : branch;
  }

  /**
   * Checks that it is the requested statement and that every signature is valid. Otherwise one authority could spoil the statement of the
   * others.
   */
  #checked(
    { version, modelHash, sums, spoilt }: Append,
    before: ModelEntry | undefined,
    entry: ModelEntry,
  ): ModelEntry {
    const { task, policy, ports } = this.#options;
    const isAsked =
      entry.version === version &&
      equalBytes(entry.task, task) &&
      equalBytes(entry.modelHash, modelHash) &&
      isSameList(entry.sums, sums) &&
      isSameList(entry.spoilt, spoilt) &&
      (before?.version !== version - 1 ||
        equalBytes(entry.previous, modelEntryCodec.statementHash(ports.suite, before)));
    const isGood = entry.endorsements.length > 0 && hasGoodEndorsements(ports.suite, modelEntryCodec, policy, entry);
    if (!isAsked || !isGood) throw new AuthorityUnreachable('it logged another model than the requested one');
    return entry;
  }

  async #appendedAt(link: AuthorityLink, append: Append, before: ModelEntry | undefined): Promise<ModelEntry> {
    const { task } = this.#options;
    try {
      return await link.appendModel({ task, ...append });
    } catch (error) {
      const isBehind = error instanceof AuthorityRefusal && error.code === 'wrong-version';
      if (!isBehind || before === undefined) throw error;
      await link.adoptModel(before);
      return link.appendModel({ task, ...append });
    }
  }

  /** The authorities whose addresses this server has. */
  get members(): readonly Member[] {
    return this.#options.links.flatMap((link, authority) => (link === undefined ? [] : [{ authority, link }]));
  }

  #ofEnough<Answer>(
    ask: (member: Member) => Promise<Answer>,
    isEnough: (answers: readonly Answered<Answer>[]) => boolean = () => true,
  ): Promise<readonly Answered<Answer>[]> {
    const { policy, graceMs } = this.#options;
    return gather(
      this.members.map((member) => ({ authority: member.authority, ask: () => ask(member) })),
      { needed: policy.threshold, graceMs, isEnough },
    );
  }
}

function isSameList(left: readonly Uint8Array[], right: readonly Uint8Array[]): boolean {
  return left.length === right.length && left.every((one, n) => equalBytes(one, right[n] as Uint8Array));
}
