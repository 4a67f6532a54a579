/** Slot keys as an engine: X25519 keys that the authority publishes for every buffer (decision 036). */
import type { SlotBinding, SlotKeyRole, SlotKeySource, Suite, X25519Key } from '@basa/masking';
import {
  ascii,
  concatBytes,
  equalBytes,
  isSlotKey,
  openWithPad,
  openWithSlotKey,
  SLOT_KEY_BYTES,
  SLOT_SEALED_BYTES,
  sealToSlot,
  slotKeyList,
  slotKeyOf,
  slotPad,
  slotSecret,
} from '@basa/masking';
import { sealingContext, selfContext } from './naming.ts';
import type { BufferIssuer, BufferSealing, SealedBuffer } from './sealing.ts';
import type { DescriptorBody } from './statements.ts';

/** There is one authority. */
const AUTHORITY = 0;
const SECRET_BYTES = 32;
const SALT = ascii('basa slot keys');

/** The list of a buffer must have been checked (`slotKeysProblem` of drawn-buffer.ts). */
export function slotSealing(suite: Suite): BufferSealing {
  const sealed = (seed: Uint8Array, binding: SlotBinding): Uint8Array => {
    const bytes = sealToSlot(suite, seed, binding);
    if (bytes === undefined) throw new Error('the list of slot keys was not checked');
    return bytes;
  };
  return {
    name: 'slot keys (X25519)',
    sealedBytes: SLOT_SEALED_BYTES,
    selfNameBytes: SLOT_KEY_BYTES,
    sealEdge: (buffer, slot, { role, joinTag }, seed) =>
      sealed(seed, binding(buffer, slot, sealingContext(buffer.ctx, role, joinTag, slot))),
    edgeOpener(buffer, slot, secret) {
      if (secret.length !== SLOT_KEY_BYTES) return undefined;
      const key = suite.x25519(secret);
      if (!equalBytes(key.publicKey, slotKeyOf(buffer.slotKeys, slot))) return undefined;
      return (bytes, { role, joinTag }) =>
        openWithSlotKey(suite, bytes, key, binding(buffer, slot, sealingContext(buffer.ctx, role, joinTag, slot)));
    },
    sealSelf: (buffer, registration, seed) =>
      sealed(seed, binding(buffer, 'self', selfContext(buffer.ctx, registration))),
    openSelf: (buffer, registration, bytes, pad) =>
      openWithPad(suite, bytes, pad, binding(buffer, 'self', selfContext(buffer.ctx, registration))),
  };
}

export function binding({ ctx, slotKeys }: SealedBuffer, role: SlotKeyRole, context: Uint8Array): SlotBinding {
  return { publicKey: slotKeyOf(slotKeys, role), salt: ctx, context, authority: AUTHORITY };
}

/** Forgets its secret when its epoch has ended. */
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
  // Looked at for every key: one that is wiped in the middle must not go on with zeros.
  const sourceOf = ({ task, bufferId }: Pick<DescriptorBody, 'task' | 'bufferId'>): SlotKeySource => ({
    get master() {
      return alive();
    },
    task,
    bufferId,
  });
  const publicKey = derived('epoch key', new Uint8Array());
  return {
    publicKey,
    slotKeys: (source) => slotKeyList(suite, sourceOf(source), source.bufferSize),
    sealingKey: (slotKeys) => concatBytes(publicKey, suite.sha256(slotKeys)),
    keysOf({ ctx, descriptor }) {
      const source = sourceOf(descriptor);
      let selfKey: X25519Key | undefined;
      return {
        edge: (slot) => slotSecret(suite, source, slot),
        self(registration, selfName) {
          if (!isSlotKey(selfName)) return undefined;
          selfKey ??= suite.x25519(slotSecret(suite, source, 'self'));
          const { publicKey } = selfKey;
          const context = selfContext(ctx, registration);
          return slotPad(suite, selfName, selfKey, { publicKey, salt: ctx, context, authority: AUTHORITY });
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
