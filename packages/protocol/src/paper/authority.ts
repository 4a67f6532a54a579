/**
 * The attribute authority (AA) of the paper: it answers line 3 of Algorithm 2. The paper does not say how it learns who holds position k;
 * here the server signs a ticket for the position.
 */
import { type AttributeKeyIssuer, equalBytes, type Suite } from '@basa/masking';
import { isSigned } from '../wire/codec.ts';
import type { UserId } from '../wire/fields.ts';
import { type Refused, refused } from '../wire/refusals.ts';
import { PaperTicket, paperAttribute } from './messages.ts';

/**
 * SK_k, the key of attribute a_k, for the user that the server's ticket names.
 *
 * UNSAFE: a second user at the same position gets the same key, which the paper's time-out requires (attack A1).
 */
export function issuePaperKey(
  {
    suite,
    issuer,
    serverKey,
  }: { readonly suite: Suite; readonly issuer: AttributeKeyIssuer; readonly serverKey: Uint8Array },
  user: UserId,
  ticket: PaperTicket,
): { readonly kind: 'key'; readonly key: Uint8Array } | Refused {
  if (!isSigned(suite, PaperTicket, ticket, serverKey)) return refused('ticket-invalid');
  if (!equalBytes(ticket.user, user)) return refused('tag-not-yours');
  return { kind: 'key', key: issuer.issue(paperAttribute(suite, ticket.ctx, ticket.position)) };
}
