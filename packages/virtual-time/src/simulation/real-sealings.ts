/** Real cryptography for a federation: slot keys and CP-ABE, each with fresh keys of an authority. */
import { abeIssuer, abeSealing, createMclGroup, decodePublicKey, setup } from '@basa/abe';
import { type BufferIssuer, ENGINE, slotKeyIssuer, slotSealing } from '@basa/protocol';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { overAttributes, type PaperSealings, type Sealings } from '@basa/simulator';

const group = await createMclGroup();
const tools = { group, suite: nodeSuite, randomBytes: nodeRandomBytes };

/** CP-ABE with attributes only, as in `paper` mode. */
export function paperAbeSealings(): PaperSealings {
  const issuer = abeIssuer(setup(tools).masterKey, tools);
  return { issuer, sealing: abeSealing({ publicKey: decodePublicKey(issuer.publicKey, group), ...tools }) };
}

export function abeSealings(): Sealings {
  return overAttributes(nodeSuite, ENGINE.cpAbe, paperAbeSealings());
}

export function slotKeySealings(authorities = 1): Sealings {
  const newIssuer = (): BufferIssuer => slotKeyIssuer(nodeSuite, nodeRandomBytes(32));
  return {
    engine: ENGINE.slotKeys,
    issuer: newIssuer(),
    otherIssuers: Array.from({ length: authorities - 1 }, newIssuer),
    sealing: slotSealing(nodeSuite, authorities),
  };
}
