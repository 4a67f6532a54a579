/** Keeps the last attribute key ready, so that many seeds under one key cost one decoding. */
import { equalBytes } from '@basa/masking';

/** Returns the seed, or undefined if it was not sealed for this key and context. */
export type SeedOpener = (sealed: Uint8Array, context: Uint8Array) => Uint8Array | undefined;

export function openerCache(make: (attributeKey: Uint8Array) => SeedOpener): {
  opener(attributeKey: Uint8Array): SeedOpener;
  forget(): void;
} {
  let last: { readonly attributeKey: Uint8Array; readonly open: SeedOpener } | undefined;
  const forget = (): void => {
    last?.attributeKey.fill(0);
    last = undefined;
  };
  return {
    opener(attributeKey) {
      if (last !== undefined && equalBytes(last.attributeKey, attributeKey)) return last.open;
      const open = make(attributeKey);
      forget();
      last = { attributeKey: attributeKey.slice(), open };
      return open;
    },
    forget,
  };
}
