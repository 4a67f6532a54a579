/** Contacts each authority when the server starts. If a certificate is not trusted, the operator sees this immediately, with advice. */
import { isCertificateReason, networkAdvice, networkReason } from '@basa/protocol';

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
