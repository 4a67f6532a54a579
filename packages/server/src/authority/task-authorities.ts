/** The authorities of one task. */
import { equalBytes } from '@basa/masking';
import { type ServerPorts, type TaskId, type TaskPolicy, taskIdOf } from '@basa/protocol';
import { AuthorityUnreachable } from './authority-http.ts';
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
