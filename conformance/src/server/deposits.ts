/** Deposits that a device of the kit signs though a client would not make them. */
import type { Signer } from '@basa/masking';
import {
  type Codec,
  type Deposit,
  depositStatementCodec,
  drawnBufferCodec,
  joinTagOf,
  sealedBytesOf,
  type TaskPolicy,
  userIdOf,
  userMessages,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import type { KitDevice } from './kit-task.ts';

/** Of the buffer that a device has its seat in: seeds are as long as it has parts. */
export function depositCodec(
  { bufferSize, engine }: TaskPolicy,
  device: Pick<KitDevice, 'said'>,
): Pick<Codec<Deposit>, 'encode' | 'decode'> {
  const { parts } = drawnBufferCodec.decode(device.said('seat').answer.body).descriptor;
  return userMessages(bufferSize, { sealedBytes: sealedBytesOf(engine, parts.length) ?? 0 }).deposit;
}

export function signedDeposit(deposit: Deposit, signer: Signer): Deposit {
  const { ctx, nonce, root, certificate } = deposit;
  const joinTag = joinTagOf(nodeSuite, { ctx, user: userIdOf(nodeSuite, certificate.deviceKey), nonce });
  return { ...deposit, signature: signer.sign(depositStatementCodec.statement({ ctx, joinTag, root })) };
}
