/** How updates reach a sum, by the names that people type, and what each mode allows. */
import { CommandError } from '../shell/command-error.ts';
import { choice, type Flag, within, yes } from '../shell/flag.ts';

const MODES = ['sealed', 'one-shot'] as const;
export type ModeChoice = (typeof MODES)[number];

/** The most updates of a sum; said here because no package is loaded before a command has its flags. */
export const MOST_UPDATES: Readonly<Record<ModeChoice, number>> = { sealed: 1024, 'one-shot': 10_000 };

export const modeFlag: Flag<ModeChoice> = choice(MODES, {
  help: 'sealed: a slot for each device in a buffer; one-shot: one message a device, whatever K',
  default: 'sealed',
});

export const uncheckedSumsFlag: Flag<boolean> = yes(
  'one-shot: allow sums that only one authority vouches for, which can then shift the model unnoticed',
);

/** K, where it fits the mode. */
export function bufferWithin(bufferSize: number, mode: ModeChoice): number {
  return within(bufferSize, 'buffer', { min: 2, max: MOST_UPDATES[mode] });
}

/** The mode, with the engine that sealed mode has. */
export function modeOf<Engine extends string>(
  { mode, engine }: { readonly mode: ModeChoice; readonly engine: Engine | undefined },
  usual: Engine,
): { readonly mode: 'one-shot' } | { readonly mode: 'sealed'; readonly engine: Engine } {
  if (mode === 'sealed') return { mode, engine: engine ?? usual };
  if (engine !== undefined) throw new CommandError('--engine is for sealed mode: leave it out with --mode one-shot');
  return { mode };
}
