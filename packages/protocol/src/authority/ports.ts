/** The outside of an authority. */
import type { Signer, Suite } from '@basa/masking';

export interface AuthorityPorts {
  readonly suite: Suite;
  readonly signer: Signer;
}
