/** The ways to seal seeds, by the names that people type and read. */
import type { EngineName } from '@basa/client/operator';
import { choice, type Flag } from '../shell/flag.ts';

/** For readers. */
export const ENGINE_TITLE: Readonly<Record<EngineName, string>> = { 'cp-abe': 'CP-ABE', 'slot-keys': 'slot keys' };

/** The paper's first. */
export const ENGINE_NAMES = Object.keys(ENGINE_TITLE) as readonly EngineName[];

export function engineFlag(fallback: EngineName): Flag<EngineName> {
  return choice(ENGINE_NAMES, {
    help: 'how seeds are sealed: slot-keys, as new tasks do, or cp-abe, as in the paper',
    default: fallback,
  });
}
