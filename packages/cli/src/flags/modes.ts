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

const COMBINATIONS = ['mean', 'trimmed'] as const;

/** The updates of a step, and the combination of their batches. */
export const VERSION_FLAGS = {
  'step-updates': whole({
    help: 'number of updates in one step of the server, from as many batches as that needs',
    min: 1,
    without: 'K',
  }),
  'version-minimum': whole({
    help: 'let a batch mix versions of the model if each is named by at least this many of its updates',
    min: 1,
    without: 'one version in a batch',
  }),
  'depart-ms': whole({
    help: 'updates leave at a multiple of n milliseconds after the download of their model, which hides how long a training took',
    max: 2 ** 32 - 1,
    without: 'at once',
  }),
  combine: choice(COMBINATIONS, {
    value: 'how',
    help: 'how batches are combined: mean, or trimmed, which drops the extreme values of each parameter and needs --step-updates of at least 5 K',
    default: 'mean',
  }),
};

export interface VersionSettings {
  /** K by default. */
  readonly stepUpdates?: number;
  readonly versionMinimum?: number;
  readonly departMs?: number;
  readonly combine: (typeof COMBINATIONS)[number];
}

export function versionSettings({
  'step-updates': stepUpdates,
  'version-minimum': versionMinimum,
  'depart-ms': departMs,
  combine,
}: {
  readonly 'step-updates': number | undefined;
  readonly 'version-minimum': number | undefined;
  readonly 'depart-ms': number | undefined;
  readonly combine: VersionSettings['combine'];
}): VersionSettings {
  return {
    combine,
    ...(stepUpdates !== undefined && { stepUpdates }),
    ...(versionMinimum !== undefined && { versionMinimum }),
    ...(departMs !== undefined && { departMs }),
  };
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
