/** Values of `paper` mode that are derived and never sent: the attributes of positions, and the contexts of sealed seeds. */
import type { Suite } from '@basa/masking';
import type { Attribute, Ctx, Slot } from './brands.ts';
import { message } from './codec.ts';
import { type Field, fixed, u8, u16 } from './fields.ts';
import { KIND } from './kinds.ts';

/** The byte that other attributes would differ in. */
const PAPER = 4;
const NO_REGISTRATION = new Uint8Array(32);

const ctx = fixed<Ctx>(32);

const attributeLayout = message<{ ctx: Ctx; role: number; slot: Slot; registration: Uint8Array }>(
  KIND.attribute,
  'attribute',
  { ctx, role: u8, slot: u16 as Field<Slot>, registration: fixed(32) },
);

/** a_k. */
export function paperAttribute(suite: Suite, ctx: Ctx, slot: Slot): Attribute {
  return attributeLayout.hash(suite, { ctx, role: PAPER, slot, registration: NO_REGISTRATION }) as Attribute;
}

/** The byte that other purposes of a seed would differ in. */
const PAPER_SEED = 3;
/** Public-key ciphertexts of the paper have no sender; the context only names buffer and position. */
const NOBODY = new Uint8Array(32);

const contextLayout = message<{ ctx: Ctx; role: number; name: Uint8Array; slot: number }>(
  KIND.sealingContext,
  'sealingContext',
  { ctx, role: u8, name: fixed(32), slot: u16 },
);

/** The context of a seed that is sealed to a position, so that a ciphertext opens only there. */
export function paperContext(ctx: Ctx, position: number): Uint8Array {
  return contextLayout.encode({ ctx, role: PAPER_SEED, name: NOBODY, slot: position });
}
