/** The codecs of messages whose ciphertexts are as long as the engine of their buffer makes them. */
import { engineSealedBytes } from '@basa/abe';
import type { Descriptor, UserMessages } from '@basa/protocol';
import { userMessages } from '@basa/protocol';

export function messagesOf({ bufferSize, engine }: Pick<Descriptor, 'bufferSize' | 'engine'>): UserMessages {
  return userMessages(bufferSize, { sealedBytes: sealedBytesOf(engine) });
}

/** The server takes no task of an engine without sealing. */
export function sealedBytesOf(engine: number): number {
  const bytes = engineSealedBytes(engine);
  if (bytes === undefined) throw new RangeError(`there is no engine ${engine}`);
  return bytes;
}
