/** Keys that take long, as plain data: the request, and the function that makes them from a master key, in a thread or not. */
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
  /** The keys of the accepted slots' self seeds, and of the edges of every other slot. */
  | {
      readonly kind: 'closed';
      readonly source: KeySource;
      readonly ctx: Ctx;
      readonly authority: number;
      readonly accepted: readonly AcceptedSlot[];
    };

export interface KeyTask {
  readonly engine: number;
  /** Overwritten by the maker of the keys. */
  readonly masterKey: Uint8Array;
  readonly asked: KeysAsked;
}

/** For a closed buffer one key for each slot, undefined if there can be none; otherwise only the list. */
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
