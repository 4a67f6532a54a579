/** The key request of a colluder for a slot that the server says is its own. */
import { authorityMessages, type DepositAnswer, type KeyAnswer, type KeyRequest, type Refused } from '@basa/protocol';
import type { OracleWorld } from './oracle-world.ts';
import type { WatchedDevice } from './watched-device.ts';

export function askAsEve(
  world: OracleWorld,
  eve: WatchedDevice,
  { ticket, inbox }: DepositAnswer,
  nonce: Uint8Array = world.serverBytes(16),
): KeyAnswer | Refused {
  const body: Omit<KeyRequest, 'signature'> = {
    certificate: eve.certificate,
    nonce,
    ticket: world.signedTicket({ ...ticket, joinTag: world.tagOf(ticket.ctx, eve, nonce) }),
    earlier: inbox.map(({ joinTag, root }) => ({ joinTag, root })),
    ephemeralKey: world.serverBytes(32),
  };
  const { keyRequest } = authorityMessages(world.shape.bufferSize);
  return world.issueKey({ ...body, signature: eve.signer.sign(keyRequest.statement(body)) });
}
