/** The sealing of a closed buffer, by its engine. The pairing library is loaded if a buffer needs it. */
import type { Group } from '@basa/abe';
import type { Suite } from '@basa/masking';
import { attributeSealing, type BufferSealing, type Descriptor, ENGINE, slotSealing } from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';

/** One instance per thread. */
let loading: Promise<Group> | undefined;

export async function sealingOf(
  suite: Suite,
  { engine, parts }: Pick<Descriptor, 'engine' | 'parts'>,
): Promise<{ readonly sealing: BufferSealing; destroy(): void }> {
  const [first] = parts;
  if (engine === ENGINE.slotKeys) return { sealing: slotSealing(suite, parts.length), destroy: () => undefined };
  if (engine !== ENGINE.cpAbe || first === undefined) throw new RangeError(`there is no engine ${engine}`);
  const { abeSealing, createMclGroup, decodePublicKey } = await import('@basa/abe');
  loading ??= createMclGroup();
  const group = await loading;
  const publicKey = decodePublicKey(first.sealingKey, group);
  const sealing = abeSealing({ publicKey, group, suite, randomBytes: nodeRandomBytes });
  return { sealing: attributeSealing(suite, sealing), destroy: () => sealing.destroy() };
}
