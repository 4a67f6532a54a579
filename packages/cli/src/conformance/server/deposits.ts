/** Deposits that a device of the kit signs though a client would not make them. */
import type { Signer } from '@basa/masking';
import type { Codec, Deposit, TaskPolicy } from '@basa/protocol';
import { depositStatementCodec, joinTagOf, sealedBytesOf, userIdOf, userMessages } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';

export function depositCodec({ bufferSize, engine }: TaskPolicy): Pick<Codec<Deposit>, 'encode' | 'decode'> {
  return userMessages(bufferSize, { sealedBytes: sealedBytesOf(engine) ?? 0 }).deposit;
}

export function signedDeposit(deposit: Deposit, signer: Signer): Deposit {
  const { ctx, nonce, root, certificate } = deposit;
  const joinTag = joinTagOf(nodeSuite, { ctx, user: userIdOf(nodeSuite, certificate.deviceKey), nonce });
  return { ...deposit, signature: signer.sign(depositStatementCodec.statement({ ctx, joinTag, root })) };
}
