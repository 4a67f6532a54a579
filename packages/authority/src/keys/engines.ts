/** Master keys of both engines: makes one, encodes it, and issues keys from the encoded form. */
import type { Group } from '@basa/abe';
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

export interface MasterKeys {
  /** Makes a fresh, encoded master key. */
  make(randomBytes: RandomBytes): Uint8Array;
  open(masterKey: Uint8Array): EpochKeys;
}

/** The library of pairings, one for the thread. Only authorities with tasks that use it load it. */
let loading: Promise<Group> | undefined;

async function cpAbe(): Promise<MasterKeys> {
  const { abeIssuer, createMclGroup, decodeMasterKey, encodeMasterKey, setup, wipeMasterKey } = await import(
    '@basa/abe'
  );
  loading ??= createMclGroup();
  const group = await loading;
  return {
    make(randomBytes) {
      const { masterKey } = setup({ group, randomBytes });
      const bytes = encodeMasterKey(masterKey, group);
      wipeMasterKey(group, masterKey);
      return bytes;
    },
    open(masterKey) {
      const attributes = abeIssuer(decodeMasterKey(masterKey, group), { group, suite: nodeSuite });
      return { issuer: attributeIssuer(nodeSuite, attributes), attributes, wipe: () => attributes.wipe() };
    },
  };
}

const slotKeys: MasterKeys = {
  make: (randomBytes) => randomBytes(32),
  open(masterKey) {
    const issuer = slotKeyIssuer(nodeSuite, masterKey);
    return { issuer, wipe: () => issuer.wipe() };
  },
};

/** Returns undefined for engines that a service does not offer: transparent sealing hides nothing. */
export async function masterKeysOf(engine: number): Promise<MasterKeys | undefined> {
  if (engine === ENGINE.slotKeys) return slotKeys;
  return engine === ENGINE.cpAbe ? await cpAbe() : undefined;
}
