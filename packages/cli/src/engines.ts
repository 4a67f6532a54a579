/** The ways to seal seeds, by the names that people type and read. */
import type { EngineName } from '@basa/client/operator';
import { CommandError } from './command.ts';

/** For readers. */
export const ENGINE_TITLE: Readonly<Record<EngineName, string>> = { 'cp-abe': 'CP-ABE', 'slot-keys': 'slot keys' };

/** The paper's first. */
export const ENGINE_NAMES = Object.keys(ENGINE_TITLE) as readonly EngineName[];

export function engineOf(name: string): EngineName {
  if (Object.hasOwn(ENGINE_TITLE, name)) return name as EngineName;
  throw new CommandError(`--engine takes ${ENGINE_NAMES.join(' or ')}, got "${name}"`);
}
