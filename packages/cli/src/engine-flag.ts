/** `--engine`: how the seeds of a task are sealed. */
import type { EngineName } from '@basa/client/operator';
import { ENGINE_NAMES } from '@basa/client/operator';
import { CommandError } from './command.ts';

export function engineOf(name: string): EngineName {
  const engine = ENGINE_NAMES.find((one) => one === name);
  if (engine !== undefined) return engine;
  throw new CommandError(`--engine takes ${ENGINE_NAMES.join(' or ')}, got "${name}"`);
}
