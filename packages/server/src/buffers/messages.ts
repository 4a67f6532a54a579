/** The codecs of messages whose ciphertexts are as long as the engine of their buffer makes them. */
import type { Descriptor, UserMessages } from '@basa/protocol';
import { sealedBytesOf, userMessages } from '@basa/protocol';

export function messagesOf({ bufferSize, engine }: Pick<Descriptor, 'bufferSize' | 'engine'>): UserMessages {
  return userMessages(bufferSize, { sealedBytes: knownSealedBytes(engine) });
}

/** The server takes no task of an engine without sealing. */
export function knownSealedBytes(engine: number): number {
  const bytes = sealedBytesOf(engine);
  if (bytes === undefined) throw new RangeError(`there is no engine ${engine}`);
  return bytes;
}
