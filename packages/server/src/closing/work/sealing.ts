/** The sealing of a closed buffer, by its engine. The pairing library is loaded where a buffer needs it. */
import type { Group } from '@basa/abe';
import type { Suite } from '@basa/masking';
import type { BufferSealing, Descriptor } from '@basa/protocol';
import { attributeSealing, ENGINE, slotSealing } from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';

/** One instance a thread. */
let loading: Promise<Group> | undefined;

export async function sealingOf(
  suite: Suite,
  { engine, sealingKey }: Pick<Descriptor, 'engine' | 'sealingKey'>,
): Promise<{ readonly sealing: BufferSealing; destroy(): void }> {
  if (engine === ENGINE.slotKeys) return { sealing: slotSealing(suite), destroy: () => undefined };
  if (engine !== ENGINE.cpAbe) throw new RangeError(`there is no engine ${engine}`);
  const { abeSealing, createMclGroup, decodePublicKey } = await import('@basa/abe');
  loading ??= createMclGroup();
  const group = await loading;
  const publicKey = decodePublicKey(sealingKey, group);
  const sealing = abeSealing({ publicKey, group, suite, randomBytes: nodeRandomBytes });
  return { sealing: attributeSealing(suite, sealing), destroy: () => sealing.destroy() };
}
