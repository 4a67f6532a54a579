/** The modes by which updates reach a sum, by the names that people type, and the limits of each mode. */
import { CommandError } from '../shell/command-error.ts';
import { choice, type Flag, whole, within } from '../shell/flag.ts';

/** In the order of the demo. */
export const MODES = ['paper', 'one-shot'] as const;
export type ModeChoice = (typeof MODES)[number];

/** The largest number of updates in a sum; repeated here because no package is loaded before a command has its flags. */
export const MOST_UPDATES: Readonly<Record<ModeChoice, number>> = { 'one-shot': 10_000, paper: 1024 };

export const modeFlag: Flag<ModeChoice> = choice(MODES, {
  help: "one-shot: each device sends one message; paper: the paper's own protocol, which does not protect updates from a server that lies, and which both services must allow (unsafePaperMode)",
  default: 'one-shot',
});

/** The largest number of sums in a version, and the smallest number for a trimmed mean. */
const MOST_SUMS = 64;
const LEAST_TRIMMED = 5;

const COMBINATIONS = ['mean', 'trimmed'] as const;

/** H, and the combination of that many sums into a version. */
export const VERSION_FLAGS = {
  'sums-per-version': whole({
    help: 'H, the number of batches in one version of the model',
    min: 1,
    max: MOST_SUMS,
    default: 1,
  }),
  combine: choice(COMBINATIONS, {
    value: 'how',
    help: `how batches are combined: mean, or trimmed, which drops the extreme values of each parameter and needs at least ${LEAST_TRIMMED} batches`,
    default: 'mean',
  }),
};

export interface VersionSettings {
  readonly sumsPerVersion: number;
  readonly combine: (typeof COMBINATIONS)[number];
}

export function versionSettings(flags: {
  readonly 'sums-per-version': number;
  readonly combine: VersionSettings['combine'];
}): VersionSettings {
  const { 'sums-per-version': sumsPerVersion, combine } = flags;
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
  help: 'how seeds are encrypted: x25519, or x25519+mlkem768, which also protects against quantum computers',
  default: 'x25519',
});

/** Returns K if it fits the mode; otherwise throws. */
export function bufferWithin(bufferSize: number, mode: ModeChoice): number {
  return within(bufferSize, 'buffer', { min: 2, max: MOST_UPDATES[mode] });
}
