/** The two engines with keys and randomness that are the same in every run. */
import { abeIssuer, abeSealing, createMclGroup, decodePublicKey, setup } from '@basa/abe';
import { ascii, ByteWriter, type RandomBytes, toHex } from '@basa/masking';
import { ENGINE, slotKeyIssuer, slotSealing } from '@basa/protocol';
import { nodeSuite as suite } from '@basa/runtime/node';
import { overAttributes, type Sealings } from '@basa/simulator';

export interface VectorEngine {
  readonly sealings: Sealings;
  /**
   * Returns the bytes drawn since the last call, as a field of a vector: 64 bytes for every seed, in the order of
   * deposit and body.
   */
  drawn(): { readonly sealingRandomness?: string };
}

export function slotKeyEngine(): VectorEngine {
  const issuer = slotKeyIssuer(suite, suite.sha256(ascii('master of the protocol vectors')));
  return { sealings: { engine: ENGINE.slotKeys, issuer, sealing: slotSealing(suite) }, drawn: () => ({}) };
}

export async function cpAbeEngine(): Promise<VectorEngine> {
  const group = await createMclGroup();
  const issuer = abeIssuer(setup({ group, randomBytes: stream('setup') }).masterKey, { group, suite });
  const draw = stream('sealing');
  let drawn = '';
  const randomBytes: RandomBytes = (length) => {
    const bytes = draw(length);
    drawn += toHex(bytes);
    return bytes;
  };
  const sealing = abeSealing({ publicKey: decodePublicKey(issuer.publicKey, group), group, suite, randomBytes });
  return {
    sealings: overAttributes(suite, ENGINE.cpAbe, { issuer, sealing }),
    drawn() {
      const sealingRandomness = drawn;
      drawn = '';
      return { sealingRandomness };
    },
  };
}

function stream(name: string): RandomBytes {
  let draws = 0;
  return (length) => {
    const info = new ByteWriter().u32(draws++).finish();
    return suite.hkdf({ secret: ascii('protocol vectors'), salt: ascii(name), info, length });
  };
}
