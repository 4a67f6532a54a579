/** What the search of the site looks through: every heading with the words under it, as a script that any page can load. */
import type { Entry } from './layout.ts';
import type { Passage } from './render.ts';

/** One place: address, title of its page, heading, words. */
export type Place = readonly [address: string, page: string, heading: string, words: string];

const MAX_WORDS = 1500;

export function searchIndex(pages: readonly (Entry & { readonly passages: readonly Passage[] })[]): string {
  const places = pages.flatMap(({ title, address, passages }) =>
    passages.map(({ text, anchor, words, depth }): Place => {
      const place = depth === 1 ? address : `${address}#${anchor}`;
      return [place, title, text, words.trim().slice(0, MAX_WORDS)];
    }),
  );
  return `globalThis.basaPlaces = ${JSON.stringify(places)};\n`;
}
