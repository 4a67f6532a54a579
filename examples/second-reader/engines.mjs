// The two engines behind one set of functions: to whom a seed is sealed, and with what it is opened.
import { must } from './bytes.mjs';
import * as cpAbe from './cp-abe.mjs';
import { edgeAttribute, selfAttribute } from './derived.mjs';
import { x25519Public } from './keys.mjs';
import { ENGINE } from './layouts.mjs';
import * as slotKeys from './slot-keys.mjs';

export function engineOf(buffer, lists) {
  return buffer.engine === ENGINE.slotKeys ? slotKeyEngine(buffer, lists) : cpAbeEngine(buffer, lists);
}

function slotKeyEngine(buffer, encoded) {
  const lists = slotKeys.readLists(buffer, encoded);
  const edge = (slot) => lists.map(({ authority, edges }) => ({ authority, key: edges[slot] }));
  const self = lists.map((one) => ({ authority: one.authority, key: one.self }));
  return {
    sealedBytes: 32 + 32 * lists.length,
    sealEdge: (seed, slot, context) => slotKeys.seal(seed, edge(slot), buffer, context),
    sealSelf: (seed, _r, context) => slotKeys.seal(seed, self, buffer, context),
    selfName: (sealed) => sealed.subarray(0, 32),
    openEdge: (sealed, slot, keys, context) => slotKeys.open(sealed, edge(slot), keys, buffer, context),
    slotKey(secret, authority, slot) {
      const listed = edge(slot).find((one) => one.authority === authority);
      must(secret.length === 32 && x25519Public(secret).equals(listed.key), 'a key that is not the one of the list');
      return secret;
    },
  };
}

function cpAbeEngine(buffer, lists) {
  must(lists.length === 0 && buffer.parts.length === 1, 'slot keys in a buffer of CP-ABE');
  const publicKey = cpAbe.readPublicKey(buffer.parts[0].sealingKey);
  return {
    sealedBytes: 240,
    sealEdge: (seed, slot, context) => cpAbe.seal(seed, publicKey, edgeAttribute(buffer.ctx, slot), context),
    sealSelf: (seed, r, context) => cpAbe.seal(seed, publicKey, selfAttribute(buffer.ctx, r), context),
    selfName: () => Buffer.alloc(0),
    openEdge: (sealed, _slot, keys, context) => cpAbe.open(sealed, keys.get(0), context),
    slotKey: (key, _authority, slot) => cpAbe.readKey(key, edgeAttribute(buffer.ctx, slot)),
  };
}
