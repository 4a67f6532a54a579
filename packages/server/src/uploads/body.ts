/** An upload as its expected bytes. */
import type { Modulus } from '@basa/masking';
import type { Ctx, Slot } from '@basa/protocol';
import type { BodyLayout } from './body-check.ts';

/** A body by its name, with its requirements. */
export interface Body {
  readonly name: { readonly ctx: Ctx; readonly slot: Slot; readonly bodyHash: Uint8Array };
  readonly layout: BodyLayout;
  readonly modulus: Modulus;
}
