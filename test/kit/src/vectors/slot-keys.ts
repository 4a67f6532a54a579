/** Test vectors of slot keys: secrets and lists from a master, seeds sealed for each use with their pads; and rejected ones. */
import { ascii, type SlotKeyRole, type SlotKeySource, slotKeyList, slotKeyOf, slotSecret, toHex } from '@basa/masking';
import {
  allSteps,
  type Ctx,
  type DepositRoot,
  type JoinTag,
  registrationOf,
  type Slot,
  sealingContext,
  selfContext,
  type View,
} from '@basa/protocol';
import { nodeSuite as suite } from '@basa/runtime/node';
import { boundAlone, padFor, sealedSeed } from '../core/slot-seals.ts';
import { type DealtSeed, dealtSeed, type RefusedDealt, refusedDealt } from './dealt-seeds.ts';
import {
  type RefusedKey,
  type RefusedList,
  type RefusedSeal,
  refusedKeys,
  refusedLists,
  refusedSeals,
  type SealedToSlot,
} from './slot-key-negatives.ts';

interface Source {
  readonly master: string;
  readonly task: string;
  readonly offer: string;
}

export interface SlotKeyVectors {
  readonly about: string;
  readonly secrets: readonly (Source & { readonly role: SlotKeyRole; readonly secret: string; readonly key: string })[];
  readonly lists: readonly (Source & { readonly slots: number; readonly list: string; readonly hash: string })[];
  readonly seals: readonly SealedToSlot[];
  readonly dealt: readonly DealtSeed[];
  readonly refusedKeys: readonly RefusedKey[];
  readonly refusedLists: readonly RefusedList[];
  readonly refusedSeals: readonly RefusedSeal[];
  readonly refusedDealt: readonly RefusedDealt[];
}

const SLOTS = 3;
const SOURCE: SlotKeySource = { master: named('master'), task: named('task'), offer: named('buffer').slice(0, 16) };
const LIST = allSteps(slotKeyList(suite, SOURCE, SLOTS));
const CTX = named('ctx') as Ctx;
const JOIN_TAG = named('join tag') as JoinTag;
const SLOT = 2 as Slot;

export function slotKeyVectors(): SlotKeyVectors {
  const source = { master: toHex(SOURCE.master), task: toHex(SOURCE.task), offer: toHex(SOURCE.offer) };
  const edge = sealedTo('edge', SLOT, sealingContext(CTX, 'edge', JOIN_TAG, SLOT));
  const self = selfSealed('view');
  const where = { ctx: CTX, slot: SLOT, context: sealingContext(CTX, 'edge', JOIN_TAG, SLOT) };
  return {
    about:
      'Slot keys (X25519), bytes in hex. Written by `npm run write -- vectors`; checked by conformance/vectors/check_slot_keys.py.',
    secrets: (['self', 0, 1, 2, 258] as const).map((role) => {
      const secret = slotSecret(suite, SOURCE, role);
      return { ...source, role, secret: toHex(secret), key: toHex(suite.x25519(secret).publicKey) };
    }),
    lists: [2, SLOTS].map((slots) => {
      const list = allSteps(slotKeyList(suite, SOURCE, slots));
      return { ...source, slots, list: toHex(list), hash: toHex(suite.sha256(list)) };
    }),
    seals: [edge, sealedTo('backup', 1, sealingContext(CTX, 'backup', JOIN_TAG, 1)), self],
    dealt: [
      dealtSeed(where, [0, 1, 2, 3], 3),
      dealtSeed(where, [0, 1, 3], 3),
      dealtSeed(where, [0, 1], 2),
      dealtSeed(where, [0, 2, 3, 4, 6], 5),
      dealtSeed(where, [0], 1),
    ],
    refusedKeys: refusedKeys(LIST),
    refusedLists: refusedLists(LIST),
    refusedSeals: refusedSeals({ edge, self, otherSelf: selfSealed('another view'), list: LIST }),
    refusedDealt: refusedDealt(where),
  };
}

/** The self seed of a user that saw this view. */
function selfSealed(seen: string): SealedToSlot {
  const [root, view] = [named('root') as DepositRoot, named(seen) as View];
  const registration = registrationOf(suite, { ctx: CTX, slot: SLOT, joinTag: JOIN_TAG, root, view });
  const made = { root: toHex(root), view: toHex(view), registration: toHex(registration) };
  return { ...sealedTo('self', 'self', selfContext(CTX, registration)), slot: SLOT, ...made };
}

function sealedTo(use: SealedToSlot['use'], role: SlotKeyRole, context: Uint8Array): SealedToSlot {
  const publicKey = slotKeyOf(LIST, role);
  const binding = boundAlone(publicKey, { salt: CTX, context });
  const seed = named(`${use} seed`);
  const secret = slotSecret(suite, SOURCE, role);
  const sealed = sealedSeed(suite, seed, binding);
  const pad = padFor(suite, sealed, secret, binding) as Uint8Array;
  return {
    use,
    slot: Number(role === 'self' ? SLOT : role),
    ctx: toHex(CTX),
    joinTag: toHex(JOIN_TAG),
    context: toHex(context),
    secret: toHex(secret),
    key: toHex(publicKey),
    seed: toHex(seed),
    pad: toHex(pad),
    sealed: toHex(sealed),
  };
}

function named(name: string): Uint8Array {
  return suite.sha256(ascii(`slot key vectors: ${name}`));
}
