/** The authorities that a server knows, by their keys; each task names the authorities that it trusts. */
import { equalBytes, type Suite } from '@basa/masking';
import type { TaskId, UserId } from '@basa/protocol';
import { Network } from '@basa/protocol/http';
import { type TaskPolicy, taskIdOf } from '@basa/protocol/policy';
import { fail } from '@basa/service';
import type { Store } from '../store/store.ts';
import { AuthorityUnreachable } from './authority-http.ts';
import type { AuthorityLink } from './authority-link.ts';
import { gather, type Member } from './gather.ts';

/** The authorities of a task whose addresses this server has. */
export function membersOf(links: readonly AuthorityLink[], { authorities }: TaskPolicy): readonly Member[] {
  return authorities.flatMap((key, authority) => {
    const link = links.find(({ publicKey }) => equalBytes(publicKey, key));
    return link === undefined ? [] : [{ authority, link }];
  });
}

/** Throws if too few of the authorities of a new task know its policy. */
export async function checkPolicy(
  links: readonly AuthorityLink[],
  suite: Suite,
  task: TaskId,
  policy: TaskPolicy,
): Promise<void> {
  await gather(membersOf(links, policy), policy.threshold, async ({ link }) => {
    if (!equalBytes(taskIdOf(suite, await link.policy(task)), task))
      throw new AuthorityUnreachable('it sent the policy of another task');
  });
}

/** Reports each authority behind https that cannot be reached, with advice. It resolves in any case: the server continues without them. */
export async function meetAuthorities(links: readonly AuthorityLink[], tell: (words: string) => void): Promise<void> {
  await Promise.all(
    links
      .filter(({ url }) => url.startsWith('https:'))
      .map((link) => link.health().catch((error: Error) => tell(wordsOf(link.url, error.cause ?? error)))),
  );
}

function wordsOf(url: string, error: unknown): string {
  const reason = Network.networkReason(error);
  const happened = Network.isCertificateReason(reason) ? 'has a certificate that is not trusted' : 'does not answer';
  return `the authority ${url} ${happened} (${reason}); ${Network.networkAdvice(error)}. Without enough authorities, uploads wait and there are no new versions`;
}

/** Ends the request of a device that f + 1 authorities of the task have revoked: more of them name it than may lie. */
export async function checkRevoked(store: Store, { authorities, oneShot }: TaskPolicy, user: UserId): Promise<void> {
  if ((await store.revokedBy(user, authorities)) > (oneShot?.tolerated ?? 0)) fail('revoked');
}

/**
 * Asks each authority for its whole list of revoked devices. The server keeps what it was told: a device stays revoked here when an authority
 * was restored and has forgotten it. An authority that does not answer delays nothing but the error that this throws in the end.
 */
export async function lookForRevocations(store: Store, links: readonly AuthorityLink[]): Promise<void> {
  const looks = await Promise.allSettled(
    links.map(async (link) => store.addRevocations(link.publicKey, await link.revocations())),
  );
  for (const look of looks) if (look.status === 'rejected') throw look.reason;
}
