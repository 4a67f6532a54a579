/** An upload as the bytes that are expected of it. */
import type { Modulus } from '@basa/masking';
import type { Ctx, Slot } from '@basa/protocol';
import type { BodyLayout } from './body-check.ts';

/** A body by its name, and what it must be. */
export interface Body {
  readonly name: { readonly ctx: Ctx; readonly slot: Slot; readonly bodyHash: Uint8Array };
  readonly layout: BodyLayout;
  readonly modulus: Modulus;
}
