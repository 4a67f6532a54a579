/** Real cryptography for a test federation: CP-ABE and the identity KEM, each with fresh authority keys. */

import {
  abeIssuer,
  abeSealing,
  createMclGroup,
  decodeIdentityPublicKey,
  decodePublicKey,
  identityIssuer,
  identitySealing,
  identitySetup,
  setup,
} from '@basa/abe';
import { ENGINE } from '@basa/protocol';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import type { Sealings } from '@basa/simulator';

const group = await createMclGroup();
const tools = { group, suite: nodeSuite, randomBytes: nodeRandomBytes };

export function abeSealings(): Sealings {
  const issuer = abeIssuer(setup(tools).masterKey, tools);
  return {
    engine: ENGINE.cpAbe,
    issuer,
    sealing: abeSealing({ publicKey: decodePublicKey(issuer.publicKey, group), ...tools }),
  };
}

export function identitySealings(): Sealings {
  const issuer = identityIssuer(identitySetup(tools).masterKey, tools);
  const publicKey = decodeIdentityPublicKey(issuer.publicKey, group);
  return { engine: ENGINE.identityKem, issuer, sealing: identitySealing({ publicKey, ...tools }) };
}
