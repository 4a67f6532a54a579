/** How many of a task's authorities every step needs, as people say it. */
import { type CommandInput, numberFlag, textFlag } from './command.ts';

/** As the protocol has it; said here because no package is loaded before a command has its flags. */
export const MAX_AUTHORITIES = 16;

/** Nothing where nothing is said: the smallest threshold that withstands an authority which colludes. */
export function thresholdFlag(input: CommandInput): { readonly threshold?: number } {
  if (textFlag(input, 'threshold') === undefined) return {};
  return { threshold: numberFlag(input, 'threshold', { min: 1, max: MAX_AUTHORITIES, fallback: 1 }) };
}
