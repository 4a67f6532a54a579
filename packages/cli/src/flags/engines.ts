/** The ways to seal seeds, by the names that people type and read. */
import type { EngineName } from '@basa/client/operator';
import { choice, type Flag } from '../shell/flag.ts';

/** The paper's engine first. */
export const ENGINE_NAMES: readonly EngineName[] = ['cp-abe', 'slot-keys'];

/** The protection of an update's masks: an engine of sealed mode, or the one-shot mode. */
export type Way = EngineName | 'one-shot';

const HELP = 'how seeds are encrypted in sealed mode: slot-keys, which is faster, or cp-abe, as in the paper';

/** Titles for readers. */
export const WAY_TITLE: Readonly<Record<Way, string>> = {
  'cp-abe': 'CP-ABE',
  'slot-keys': 'slot keys',
  'one-shot': 'one-shot',
};

/** Used together with a choice of the mode. Undefined if no engine was chosen. */
export function sealedEngineFlag(usual: EngineName): Flag<EngineName | undefined> {
  return choice(ENGINE_NAMES, { help: HELP, without: usual, elsewhere: { 'one-shot': '--mode' } });
}
