/** The authorities that a server knows, by their keys; each task names the authorities that it trusts. */
import { equalBytes } from '@basa/masking';
import {
  isCertificateReason,
  networkAdvice,
  networkReason,
  type ServerPorts,
  type TaskId,
  type TaskPolicy,
  taskIdOf,
  type UserId,
} from '@basa/protocol';
import { fail } from '@basa/service';
import type { Store } from '../store/store.ts';
import { AuthorityUnreachable } from './authority-http.ts';
import type { AuthorityLink } from './authority-link.ts';
import { type Answered, gather } from './gather.ts';

export interface AuthorityLinksOptions {
  /** Those of the configuration. */
  readonly links: readonly AuthorityLink[];
  readonly ports: ServerPorts;
  readonly clock: () => number;
}

/** The time for which authorities that are not needed are awaited: their signatures allow others to be down later. */
const GRACE_MS = 500;

/** The authorities that a server knows, by their keys. Each task names the authorities that it trusts. */
export class AuthorityLinks {
  readonly #options: AuthorityLinksOptions;

  constructor(options: AuthorityLinksOptions) {
    this.#options = options;
  }

  get all(): readonly AuthorityLink[] {
    return this.#options.links;
  }

  of(task: TaskId, policy: TaskPolicy): TaskAuthorities {
    const links = policy.authorities.map((key) => this.all.find(({ publicKey }) => equalBytes(publicKey, key)));
    return new TaskAuthorities({ ...this.#options, task, policy, links, graceMs: GRACE_MS });
  }

  stop(): void {
    for (const link of this.all) link.stop();
  }
}

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

/** The authorities of one task. */
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

interface Contact {
  readonly url: string;
  /** Throws if it does not answer. */
  health(): Promise<void>;
}

/** Reports each authority behind https that cannot be reached. It resolves in any case: the server continues without them. */
export async function meetAuthorities(contacts: readonly Contact[], tell: (words: string) => void): Promise<void> {
  await Promise.all(
    contacts
      .filter(({ url }) => url.startsWith('https:'))
      .map(({ url, health }) => health().catch((error: Error) => tell(wordsOf(url, error.cause ?? error)))),
  );
}

function wordsOf(url: string, error: unknown): string {
  const reason = networkReason(error);
  const happened = isCertificateReason(reason) ? 'has a certificate that is not trusted' : 'does not answer';
  return `the authority ${url} ${happened} (${reason}); ${networkAdvice(error)}. Until it answers, the server cannot make batches or versions`;
}

export interface RevocationsOptions {
  readonly store: Store;
  readonly authorities: Pick<AuthorityLinks, 'all'>;
}

/**
 * The devices that the authorities have revoked. The server asks each authority for its whole list, and refuses a device early once more of
 * them name it than may lie. It keeps what it was told: a device stays revoked here when an authority was restored and has forgotten it.
 */
export class Revocations {
  readonly #options: RevocationsOptions;

  constructor(options: RevocationsOptions) {
    this.#options = options;
  }

  /** Ends the request of a device that f + 1 authorities of the task have revoked. */
  async check({ authorities, oneShot }: TaskPolicy, user: UserId): Promise<void> {
    const revoking = await this.#options.store.revokedBy(user, authorities);
    if (revoking > (oneShot?.tolerated ?? 0)) fail('revoked');
  }

  /** An authority that does not answer delays nothing but the error that this throws in the end. */
  async look(): Promise<void> {
    const { store, authorities } = this.#options;
    const looks = await Promise.allSettled(
      authorities.all.map(async (link) => store.addRevocations(link.publicKey, await link.revocations())),
    );
    for (const look of looks) if (look.status === 'rejected') throw look.reason;
  }
}
