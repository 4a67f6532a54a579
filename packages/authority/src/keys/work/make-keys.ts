/** Keys that take long, as plain data: what is asked for, and what makes it from a master key, in a thread or not. */
import { allSteps, type Ctx, type KeySource, type Registration, type Slot } from '@basa/protocol';
import type { EpochKeys } from '../engines.ts';

/** A slot of a closed buffer that was accepted. */
interface AcceptedSlot {
  readonly slot: number;
  readonly registration: Registration;
  readonly selfName: Uint8Array;
}

export type KeysAsked =
  /** The list that goes with a new buffer. */
  | { readonly kind: 'list'; readonly source: KeySource }
  /** What opens the self seeds of the accepted, and the edges of every other slot. */
  | {
      readonly kind: 'closed';
      readonly source: KeySource;
      readonly ctx: Ctx;
      readonly authority: number;
      readonly accepted: readonly AcceptedSlot[];
    };

export interface KeyTask {
  readonly engine: number;
  /** Overwritten by whoever makes the keys. */
  readonly masterKey: Uint8Array;
  readonly asked: KeysAsked;
}

/** Of a closed buffer one key for each slot, undefined where there can be none; else the list alone. */
export type KeysMade = readonly (Uint8Array | undefined)[];

export function makeKeys({ issuer }: Pick<EpochKeys, 'issuer'>, asked: KeysAsked): KeysMade {
  if (asked.kind === 'list') return [allSteps(issuer.slotKeys(asked.source))];
  const { source, ctx, authority, accepted } = asked;
  const keys = issuer.keysOf({ ctx, authority, source });
  const accepts = new Map(accepted.map((entry) => [entry.slot, entry]));
  return Array.from({ length: source.bufferSize }, (_, slot) => {
    const entry = accepts.get(slot);
    return entry === undefined ? keys.edge(slot as Slot) : keys.self(entry.registration, entry.selfName);
  });
}
