/** The outside of the server's part of the protocol. */
import type { Signer, Suite } from '@basa/masking';

export interface ServerPorts {
  readonly suite: Suite;
  readonly signer: Signer;
}
