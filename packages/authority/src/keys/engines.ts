/** Master keys of both engines: makes one, encodes it, and issues keys from the encoded form. */
import { abeIssuer, decodeMasterKey, encodeMasterKey, type Group, setup, wipeMasterKey } from '@basa/abe';
import type { AttributeKeyIssuer, RandomBytes } from '@basa/masking';
import { attributeIssuer, type BufferIssuer, ENGINE, slotKeyIssuer } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';

/** A master key in memory. */
export interface EpochKeys {
  readonly issuer: BufferIssuer;
  /** The issuer of `paper` mode; missing if the engine has no attributes. */
  readonly attributes?: AttributeKeyIssuer;
  /** Overwrites the secrets; later calls throw an error. */
  wipe(): void;
}

interface MasterKeys {
  /** Makes a fresh, encoded master key. */
  make(group: Group, randomBytes: RandomBytes): Uint8Array;
  open(group: Group, masterKey: Uint8Array): EpochKeys;
}

const cpAbe: MasterKeys = {
  make(group, randomBytes) {
    const { masterKey } = setup({ group, randomBytes });
    const bytes = encodeMasterKey(masterKey, group);
    wipeMasterKey(group, masterKey);
    return bytes;
  },
  open(group, masterKey) {
    const attributes = abeIssuer(decodeMasterKey(masterKey, group), { group, suite: nodeSuite });
    return { issuer: attributeIssuer(nodeSuite, attributes), attributes, wipe: () => attributes.wipe() };
  },
};

const slotKeys: MasterKeys = {
  make: (_group, randomBytes) => randomBytes(32),
  open(_group, masterKey) {
    const issuer = slotKeyIssuer(nodeSuite, masterKey);
    return { issuer, wipe: () => issuer.wipe() };
  },
};

/** Returns undefined for engines that a service does not offer: transparent sealing hides nothing. */
export function masterKeysOf(engine: number): MasterKeys | undefined {
  if (engine === ENGINE.slotKeys) return slotKeys;
  return engine === ENGINE.cpAbe ? cpAbe : undefined;
}
