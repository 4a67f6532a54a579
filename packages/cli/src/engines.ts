/** The ways to seal seeds, by the names that people type and read. */
import type { EngineName } from '@basa/client/operator';
import { ENGINES } from '@basa/client/operator';
import { sealedBytesOf } from '@basa/protocol';
import { CommandError } from './command.ts';

/** For readers. */
export const ENGINE_TITLE: Readonly<Record<EngineName, string>> = { 'cp-abe': 'CP-ABE', 'slot-keys': 'slot keys' };

/** The paper's first. */
export const ENGINE_NAMES: readonly EngineName[] = ['cp-abe', 'slot-keys'];

export function sealedBytesOfEngine(name: EngineName): number {
  return sealedBytesOf(ENGINES[name]) ?? 0;
}

export function engineOf(name: string): EngineName {
  if (Object.hasOwn(ENGINES, name)) return name as EngineName;
  throw new CommandError(`--engine takes ${Object.keys(ENGINES).join(' or ')}, got "${name}"`);
}
