/** A real message with its codec. */
import type { Codec } from '@basa/protocol/wire';

export interface SampleMessage {
  readonly name: string;
  readonly codec: Codec<object>;
  readonly bytes: Uint8Array;
}

export function sample<T extends object>(codec: Codec<T>, value: T | undefined): SampleMessage {
  if (value === undefined) throw new Error(`no sample of ${codec.name}`);
  return { name: codec.name, codec: codec as unknown as Codec<object>, bytes: codec.encode(value) };
}
