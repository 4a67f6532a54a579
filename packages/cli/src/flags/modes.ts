/** The modes by which updates reach a sum, by the names that people type, and the limits of each mode. */
import { CommandError } from '../shell/command-error.ts';
import { choice, type Flag, whole, within, yes } from '../shell/flag.ts';

const MODES = ['sealed', 'one-shot'] as const;
export type ModeChoice = (typeof MODES)[number];

/** The largest number of updates in a sum; repeated here because no package is loaded before a command has its flags. */
export const MOST_UPDATES: Readonly<Record<ModeChoice, number>> = { sealed: 1024, 'one-shot': 10_000 };

export const modeFlag: Flag<ModeChoice> = choice(MODES, {
  help: 'sealed: each device takes a slot in a buffer; one-shot: each device sends one message, for any K',
  default: 'sealed',
  elsewhere: { 'cp-abe': '--engine', 'slot-keys': '--engine' },
});

export const uncheckedSumsFlag: Flag<boolean> = yes(
  'one-shot: allow sums that only one authority confirms; that authority can then shift the model unnoticed',
);

/** The largest number of sums in a version, and the smallest number for a trimmed mean. */
const MOST_SUMS = 64;
const LEAST_TRIMMED = 5;

const COMBINATIONS = ['mean', 'trimmed'] as const;

/** H, and the combination of that many sums into a version. */
export const VERSION_FLAGS = {
  'sums-per-version': whole({
    help: 'one-shot: H, the number of batches in one version of the model',
    min: 1,
    max: MOST_SUMS,
    default: 1,
  }),
  combine: choice(COMBINATIONS, {
    value: 'how',
    help: `one-shot: how batches are combined: mean, or trimmed, which drops the extreme values of each parameter and needs at least ${LEAST_TRIMMED} batches`,
    default: 'mean',
  }),
};

export interface VersionSettings {
  readonly sumsPerVersion: number;
  readonly combine: (typeof COMBINATIONS)[number];
}

/** Returns nothing in sealed mode, in which every buffer makes a version. */
export function versionSettings(flags: {
  readonly mode: ModeChoice;
  readonly 'sums-per-version': number;
  readonly combine: VersionSettings['combine'];
}): VersionSettings | undefined {
  const { mode, 'sums-per-version': sumsPerVersion, combine } = flags;
  if (mode === 'sealed') {
    if (sumsPerVersion === 1 && combine === 'mean') return undefined;
    throw new CommandError(
      '--sums-per-version and --combine need --mode one-shot: in sealed mode, every buffer makes a version',
    );
  }
  if (combine === 'trimmed' && sumsPerVersion < LEAST_TRIMMED)
    throw new CommandError(
      `--combine trimmed needs at least ${LEAST_TRIMMED} batches; add --sums-per-version ${LEAST_TRIMMED} or more`,
    );
  return { sumsPerVersion, combine };
}

const SEALINGS = ['x25519', 'x25519+mlkem768'] as const;
export type SealingChoice = (typeof SEALINGS)[number];

export const sealingFlag: Flag<SealingChoice> = choice(SEALINGS, {
  value: 'how',
  help: 'one-shot: how seeds are encrypted: x25519, or x25519+mlkem768, which also protects against quantum computers',
  default: 'x25519',
});

/** Nothing in sealed mode, whose sealing is its engine. */
export function sealingOf(flags: {
  readonly mode: ModeChoice;
  readonly sealing: SealingChoice;
}): SealingChoice | undefined {
  const { mode, sealing } = flags;
  if (mode === 'one-shot') return sealing;
  if (sealing === 'x25519') return undefined;
  throw new CommandError('--sealing needs --mode one-shot: sealed mode cannot use ML-KEM');
}

/** Returns K if it fits the mode; otherwise throws. */
export function bufferWithin(bufferSize: number, mode: ModeChoice): number {
  return within(bufferSize, 'buffer', { min: 2, max: MOST_UPDATES[mode] });
}

/** Returns the mode, with the engine of sealed mode. */
export function modeOf<Engine extends string>(
  { mode, engine }: { readonly mode: ModeChoice; readonly engine: Engine | undefined },
  usual: Engine,
): { readonly mode: 'one-shot' } | { readonly mode: 'sealed'; readonly engine: Engine } {
  if (mode === 'sealed') return { mode, engine: engine ?? usual };
  if (engine !== undefined)
    throw new CommandError('--engine is only for sealed mode; remove it, or remove --mode one-shot');
  return { mode };
}
