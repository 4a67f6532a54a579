/** Master keys of both engines: making one, writing it down, and an issuer from what was written. */
import type { Group, WipeableIssuer } from '@basa/abe';
import {
  abeIssuer,
  decodeIdentityMasterKey,
  decodeMasterKey,
  encodeIdentityMasterKey,
  encodeMasterKey,
  identityIssuer,
  identitySetup,
  setup,
  wipeMasterKey,
} from '@basa/abe';
import type { RandomBytes } from '@basa/masking';
import { ENGINE } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';

interface MasterKeys {
  /** A fresh master key, written down. */
  make(group: Group, randomBytes: RandomBytes): Uint8Array;
  issuer(group: Group, masterKey: Uint8Array): WipeableIssuer;
}

const cpAbe: MasterKeys = {
  make(group, randomBytes) {
    const { masterKey } = setup({ group, randomBytes });
    const bytes = encodeMasterKey(masterKey, group);
    wipeMasterKey(group, masterKey);
    return bytes;
  },
  issuer: (group, masterKey) => abeIssuer(decodeMasterKey(masterKey, group), { group, suite: nodeSuite }),
};

const identityKem: MasterKeys = {
  make(group, randomBytes) {
    const { masterKey } = identitySetup({ group, randomBytes });
    const bytes = encodeIdentityMasterKey(masterKey, group);
    group.scalars.wipe(masterKey.z);
    return bytes;
  },
  issuer: (group, masterKey) => identityIssuer(decodeIdentityMasterKey(masterKey, group), { group, suite: nodeSuite }),
};

/** Undefined for engines a service does not offer: transparent sealing hides nothing. */
export function masterKeysOf(engine: number): MasterKeys | undefined {
  if (engine === ENGINE.cpAbe) return cpAbe;
  return engine === ENGINE.identityKem ? identityKem : undefined;
}
