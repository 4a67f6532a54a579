/** Slot keys as an engine: X25519 keys that every authority publishes for its part of a buffer (decisions 036 and 037). */
import {
  ascii,
  concatBytes,
  equalBytes,
  isSlotKey,
  type KeySteps,
  keysAtOnce,
  openWithPads,
  openWithSlotKeys,
  padOfShared,
  SLOT_KEY_BYTES,
  type SlotBinding,
  type SlotKeyRole,
  type SlotKeySource,
  type SlotPart,
  type Suite,
  sealToSlots,
  slotKeyList,
  slotKeyListBytes,
  slotKeyOf,
  slotSealedBytes,
  slotSecret,
  type X25519Key,
} from '@basa/masking';
import type { Registration, Slot } from './brands.ts';
import { sealingContext, selfContext } from './naming.ts';
import type { BufferIssuer, BufferSealing, EdgeUse, KeySource, PartKey, SealedBuffer } from './sealing.ts';
import type { OpenWork, SealingResult, SealingWork, SealWork } from './sealing-work.ts';

const SECRET_BYTES = 32;
const SALT = ascii('basa slot keys');

/**
 * For buffers with parts of this many authorities. The lists of a buffer must have been checked (`slotKeysProblem` of
 * drawn-buffer.ts).
 */
export function slotSealing(suite: Suite, parts = 1): BufferSealing {
  const sealed = (seed: Uint8Array, binding: SlotBinding): Uint8Array => {
    const [bytes] = keysAtOnce(suite, sealToSlots(suite, [{ seed, binding }]));
    return bytes as Uint8Array;
  };
  return {
    name: 'slot keys (X25519)',
    sealedBytes: slotSealedBytes(parts),
    selfNameBytes: SLOT_KEY_BYTES,
    sealEdge: (buffer, slot, use, seed) => sealed(seed, edgeBinding(buffer, slot, use)),
    edgeOpener(buffer, slot, keys) {
      const bound = { parts: partsOf(buffer, slot), threshold: buffer.descriptor.threshold };
      const made = keyObjects(suite, bound.parts, inOrder(buffer, keys));
      if (made.size < bound.threshold) return undefined;
      const secrets = inOrder(buffer, keys).map((secret) => (secret && made.has(secret) ? secret : undefined));
      return (bytes, use) => {
        const entry = { sealed: bytes, binding: edgeBinding(buffer, slot, use) };
        return keysAtOnce(suite, openWithSlotKeys(suite, bound, secrets, [entry]), made)?.[0];
      };
    },
    sealSelf: (buffer, registration, seed) => sealed(seed, selfBinding(buffer, registration)),
    openSelf(buffer, registration, bytes, released) {
      const binding = selfBinding(buffer, registration);
      // A pad is checked only against its seed: if an authority lied about one, a set without it opens.
      for (const set of setsOf(released, binding.threshold)) {
        const pads = inOrder(buffer, set).map((pad) => pad?.slice());
        const [seed] = keysAtOnce(suite, openWithPads(suite, [{ sealed: bytes, binding, pads }]));
        if (seed !== undefined) return { seed, by: set.map(({ authority }) => authority) };
      }
      return undefined;
    },
  };
}

/** The key objects of secrets that belong to their parts. */
function keyObjects(
  suite: Suite,
  parts: readonly SlotPart[],
  secrets: readonly (Uint8Array | undefined)[],
): ReadonlyMap<Uint8Array, X25519Key> {
  const made = new Map<Uint8Array, X25519Key>();
  for (const [place, secret] of secrets.entries()) {
    if (secret?.length !== SLOT_KEY_BYTES) continue;
    const key = suite.x25519(secret);
    if (equalBytes(key.publicKey, (parts[place] as SlotPart).publicKey)) made.set(secret, key);
  }
  return made;
}

/** Carries out the work of a contribution, as key agreements: synchronous or asynchronous. */
export function slotSteps(suite: Suite, work: SealingWork): KeySteps<SealingResult> {
  return work.kind === 'seal' ? sealSteps(suite, work) : openSteps(suite, work);
}

function sealSteps(suite: Suite, { buffer, seals }: SealWork): KeySteps<SealingResult> {
  return sealToSlots(
    suite,
    seals.map((seal) => ({
      seed: seal.seed,
      binding: seal.to === 'self' ? selfBinding(buffer, seal.registration) : edgeBinding(buffer, seal.to, seal.use),
    })),
  );
}

function openSteps(suite: Suite, { buffer, slot, keys, entries }: OpenWork): KeySteps<SealingResult> {
  return openWithSlotKeys(
    suite,
    { parts: partsOf(buffer, slot), threshold: buffer.descriptor.threshold },
    inOrder(buffer, keys),
    entries.map(({ sealed, use }) => ({ sealed, binding: edgeBinding(buffer, slot, use) })),
  );
}

/** Keys in the order of the parts. */
function inOrder(
  { descriptor: { parts } }: SealedBuffer,
  keys: readonly PartKey[],
): readonly (Uint8Array | undefined)[] {
  const byAuthority = new Map(keys.map(({ authority, key }) => [authority, key]));
  return parts.map(({ authority }) => byAuthority.get(authority));
}

function* setsOf<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  if (size === 0) yield [];
  else
    for (const [n, item] of items.entries())
      for (const rest of setsOf(items.slice(n + 1), size - 1)) yield [item, ...rest];
}

function edgeBinding(buffer: SealedBuffer, slot: Slot, { role, joinTag }: EdgeUse): SlotBinding {
  return binding(buffer, slot, sealingContext(buffer.ctx, role, joinTag, slot));
}

function selfBinding(buffer: SealedBuffer, registration: Registration): SlotBinding {
  return binding(buffer, 'self', selfContext(buffer.ctx, registration));
}

function binding(buffer: SealedBuffer, role: SlotKeyRole, context: Uint8Array): SlotBinding {
  const { threshold } = buffer.descriptor;
  return { parts: partsOf(buffer, role), threshold, salt: buffer.ctx, context };
}

function partsOf({ descriptor, slotKeys }: SealedBuffer, role: SlotKeyRole): readonly SlotPart[] {
  const bytes = slotKeyListBytes(descriptor.bufferSize);
  return descriptor.parts.map(({ authority }, place) => {
    const list = slotKeys.subarray(bytes * place, bytes * (place + 1));
    return { authority, publicKey: slotKeyOf(list, role) };
  });
}

/** True if this is the key that the authority published for the slot; always with an engine that publishes none. */
export function isSlotKeyOf(suite: Suite, buffer: SealedBuffer, slot: Slot, { authority, key }: PartKey): boolean {
  if (buffer.slotKeys.length === 0) return true;
  const part = partsOf(buffer, slot).find((one) => one.authority === authority);
  return part !== undefined && key.length === SLOT_KEY_BYTES && equalBytes(suite.x25519(key).publicKey, part.publicKey);
}

/** Can forget its secret when its epoch has ended. */
export interface SlotKeyIssuer extends BufferIssuer {
  wipe(): void;
}

/** A fresh secret has 32 random bytes. It is copied. */
export function slotKeyIssuer(suite: Suite, secret: Uint8Array): SlotKeyIssuer {
  if (secret.length !== SECRET_BYTES) throw new RangeError(`a secret has ${SECRET_BYTES} bytes, got ${secret.length}`);
  const master = secret.slice();
  let isWiped = false;
  const alive = (): Uint8Array => {
    if (isWiped) throw new Error('the issuer has been wiped');
    return master;
  };
  const derived = (label: string, info: Uint8Array): Uint8Array =>
    suite.hkdf({ secret: alive(), salt: SALT, info: concatBytes(ascii(label), info), length: SECRET_BYTES });
  // Checked for every key: an issuer that is wiped in the middle must not continue with zeros.
  const sourceOf = ({ task, offer }: KeySource): SlotKeySource => ({
    get master() {
      return alive();
    },
    task,
    offer,
  });
  const publicKey = derived('epoch key', new Uint8Array());
  return {
    publicKey,
    slotKeys: (source) => slotKeyList(suite, sourceOf(source), source.bufferSize),
    sealingKey: (slotKeys) => concatBytes(publicKey, suite.sha256(slotKeys)),
    keysOf({ ctx, authority, source: of }) {
      const source = sourceOf(of);
      let selfKey: X25519Key | undefined;
      return {
        edge: (slot) => slotSecret(suite, source, slot),
        self(registration, selfName) {
          if (!isSlotKey(selfName)) return undefined;
          selfKey ??= suite.x25519(slotSecret(suite, source, 'self'));
          const { publicKey } = selfKey;
          const shared = selfKey.agree(selfName);
          const context = selfContext(ctx, registration);
          return shared && padOfShared(suite, shared, selfName, { salt: ctx, context }, { authority, publicKey });
        },
      };
    },
    derive: (label) => derived('derive', suite.sha256(label)),
    wipe() {
      isWiped = true;
      master.fill(0);
    },
  };
}
