/** The authorities that a server knows, by their keys. Each task names the authorities that it trusts. */
import { equalBytes } from '@basa/masking';
import type { ServerPorts, TaskId, TaskPolicy } from '@basa/protocol';
import type { AuthorityLink } from './authority-link.ts';
import { TaskAuthorities } from './task-authorities.ts';

interface AuthorityPlace {
  readonly url: string;
  readonly publicKey: Uint8Array;
}

export interface AuthorityLinksOptions {
  /** Those of the configuration. */
  readonly links: readonly AuthorityLink[];
  linkTo(place: AuthorityPlace): Promise<AuthorityLink>;
  readonly ports: ServerPorts;
  readonly clock: () => number;
}

/** The time for which authorities that are not needed are awaited: their parts allow others to be down later. */
const GRACE_MS = 500;

export class AuthorityLinks {
  readonly #options: AuthorityLinksOptions;
  readonly #links: AuthorityLink[];

  constructor(options: AuthorityLinksOptions) {
    this.#options = options;
    this.#links = [...options.links];
  }

  get all(): readonly AuthorityLink[] {
    return this.#links;
  }

  /** Adds a successor that is not in the configuration, at the address of its term. */
  async meet(place: AuthorityPlace): Promise<void> {
    const isKnown = (): boolean => this.all.some(({ publicKey }) => equalBytes(publicKey, place.publicKey));
    if (isKnown()) return;
    const link = await this.#options.linkTo(place);
    if (!isKnown()) this.#links.push(link);
  }

  of(task: TaskId, policy: TaskPolicy): TaskAuthorities {
    const links = policy.authorities.map((key) => this.all.find(({ publicKey }) => equalBytes(publicKey, key)));
    return new TaskAuthorities({ ...this.#options, task, policy, links, graceMs: GRACE_MS });
  }

  stop(): void {
    for (const link of this.all) link.stop();
  }
}
