/** The attribute authority of `paper` mode: gives the key of a position to any holder of the server's ticket for it. */
import { type AttributeKeyIssuer, equalBytes, type Suite } from '@basa/masking';
import type { UserId } from '../wire/brands.ts';
import { paperAttribute } from '../wire/naming.ts';
import { type Refused, refused } from '../wire/refusals.ts';
import { isSigned } from '../wire/signed.ts';
import { type PaperTicket, paperTicketCodec } from './messages.ts';

/** UNSAFE: a second user at the same position gets the same key, which the paper's time-out requires (attack A1). */
export function issuePaperKey(
  {
    suite,
    issuer,
    serverKey,
  }: { readonly suite: Suite; readonly issuer: AttributeKeyIssuer; readonly serverKey: Uint8Array },
  user: UserId,
  ticket: PaperTicket,
): { readonly kind: 'key'; readonly key: Uint8Array } | Refused {
  if (!isSigned(suite, paperTicketCodec, ticket, serverKey)) return refused('ticket-invalid');
  if (!equalBytes(ticket.user, user)) return refused('tag-not-yours');
  return { kind: 'key', key: issuer.issue(paperAttribute(suite, ticket.ctx, ticket.slot)) };
}
