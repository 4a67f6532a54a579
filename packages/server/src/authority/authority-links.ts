/** The authorities that a server knows, by their keys. Each task names the authorities that it trusts. */
import { equalBytes } from '@basa/masking';
import type { ServerPorts, TaskId, TaskPolicy } from '@basa/protocol';
import type { AuthorityLink } from './authority-link.ts';
import { TaskAuthorities } from './task-authorities.ts';

export interface AuthorityLinksOptions {
  /** Those of the configuration. */
  readonly links: readonly AuthorityLink[];
  readonly ports: ServerPorts;
  readonly clock: () => number;
}

/** The time for which authorities that are not needed are awaited: their signatures allow others to be down later. */
const GRACE_MS = 500;

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
