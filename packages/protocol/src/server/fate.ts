/** The status of an update according to the server; the authority's outcome says the same, signed. */
import { equalBytes } from '@basa/masking';
import type { JoinTag } from '../wire/brands.ts';
import type { SecureBuffer } from './secure-buffer.ts';

/** An acknowledged update ends as included, excluded, aborted, quarantined, or unknown if the authority lost its memory. */
export type Fate = 'pending' | 'included' | 'excluded' | 'aborted' | 'quarantined' | 'unknown';

/** Undefined for a join tag that has no slot here. */
export function fateOf({ accepted, slots, status }: SecureBuffer, joinTag: JoinTag): Fate | undefined {
  const slot = slots.findIndex(({ ticket }) => equalBytes(ticket.joinTag, joinTag));
  if (slot < 0) return undefined;
  if (status === 'aborted' || status === 'unknown') return status;
  if (status === 'filling') return 'pending';
  if (!accepted.some((chosen) => chosen === slot)) return status === 'frozen' ? 'pending' : 'excluded';
  return status === 'included' || status === 'quarantined' ? status : 'pending';
}
