/** The authorities that a server knows, by their keys. Each task names the authorities that it trusts. */
import { equalBytes } from '@basa/masking';
import type { ServerPorts, TaskId, TaskPolicy, Term } from '@basa/protocol';
import type { AuthorityLink } from './authority-link.ts';
import { TaskAuthorities } from './task-authorities.ts';

interface AuthorityPlace {
  readonly url: string;
  readonly publicKey: Uint8Array;
}

/** The policy with the server's key in its current term. */
type SignedBy = Pick<TaskPolicy, 'serverKey'>;

export interface AuthorityLinksOptions {
  /** Those of the configuration. */
  readonly links: readonly AuthorityLink[];
  linkTo(place: AuthorityPlace): Promise<AuthorityLink>;
  portsOf(policy: SignedBy): ServerPorts;
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

  /** All of them, for requests that the server signs with the key of this policy. */
  signedFor(policy: SignedBy): readonly AuthorityLink[] {
    const { signer } = this.#options.portsOf(policy);
    return this.all.map((link) => link.signedBy(signer));
  }

  of(task: TaskId, policy: TaskPolicy, terms: () => Promise<readonly Term[]> = async () => []): TaskAuthorities {
    const ports = this.#options.portsOf(policy);
    const linkOf = (key: Uint8Array) => this.all.find(({ publicKey }) => equalBytes(publicKey, key));
    const links = policy.authorities.map((key) => linkOf(key)?.signedBy(ports.signer));
    return new TaskAuthorities({ ...this.#options, ports, task, policy, terms, links, graceMs: GRACE_MS });
  }

  stop(): void {
    for (const link of this.all) link.stop();
  }
}
