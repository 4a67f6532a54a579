/** The flags of a task: its mode, its batches, its noise, its statistics, and the settings that have no flag. */
import type { PrivacyChoice, StatisticsSettings, TaskSettings } from '@basa/client/operator';
import type { FieldDefinitions, OneShotPolicy, Training } from '@basa/protocol/policy';
import * as flag from '../shell/command.ts';
import { CommandError, contentOf, defined, type Flag, within } from '../shell/command.ts';

/** In the order of the demo. */
export const MODES = ['paper', 'one-shot'] as const;
export type ModeChoice = (typeof MODES)[number];

/** The largest number of updates in a sum; repeated here because no package is loaded before a command has its flags. */
const MOST_UPDATES: Readonly<Record<ModeChoice, number>> = { 'one-shot': 10_000, paper: 1024 };

/** Returns K if it fits the mode; otherwise throws. */
export function bufferWithin(bufferSize: number, mode: ModeChoice): number {
  return within(bufferSize, 'buffer', { min: 2, max: MOST_UPDATES[mode] });
}

export const bufferFlag = {
  help: 'buffer size K: the number of updates in a sum',
  min: 2,
  max: MOST_UPDATES['one-shot'],
} as const;

export const sealingFlag = flag.choice(['x25519', 'x25519+mlkem768'], {
  value: 'how',
  help: 'how seeds are encrypted: x25519, or x25519+mlkem768, which also protects against quantum computers',
  without: 'x25519',
});

/** The protocol's limit; repeated here because no package is loaded before a command has its flags. */
const MAX_AUTHORITIES = 8;

export const authoritiesFlag = flag.whole({
  help: 'number of authorities for the task',
  min: 1,
  max: MAX_AUTHORITIES,
  default: 1,
});

export const thresholdFlag = flag.whole({
  value: 't',
  help: 'number of authorities that every step needs, if there are several',
  min: 1,
  max: MAX_AUTHORITIES,
  without: '3 of 3 or 4, 4 of 5 or 6, 5 of 7, 6 of 8',
});

/** The floor of devices that ask for nothing else: they take part in no smaller sum. */
export const FEWEST = 3;

export const devicesFlag: Flag<number | undefined> = flag.whole({
  help: 'expected number of devices, for batches and places that they can fill',
  min: FEWEST,
});

export interface Fitting {
  readonly bufferSize: number;
  readonly minimum: number;
  readonly places: number;
}

/** The share of K that is enough for a batch: with three drop-outs of twenty devices, two batches of ten still have it. */
const ENOUGH = 0.7;
/** While one batch is summed, the next one fills. */
const BATCHES = 2;

/**
 * Two batches of at most `most` updates at a time: places that are a multiple of K leave few updates over, and with a
 * Kmin of at most half of the devices a spoiler can be left out.
 */
export function fittingFor(devices: number, most: number): Fitting {
  const bufferSize = Math.max(FEWEST, Math.min(most, Math.floor(devices / BATCHES)));
  return {
    bufferSize,
    minimum: fittingMinimum(bufferSize),
    places: bufferSize * Math.max(1, Math.min(BATCHES, Math.floor(devices / bufferSize))),
  };
}

/** Of `available` updates: the devices of a fleet may be fewer than K. */
export function fittingMinimum(available: number): number {
  return Math.max(FEWEST, Math.ceil(ENOUGH * available));
}

/** Undefined unless a single device can stop the task. */
export function spoilerWarning(minimum: number, devices: number | undefined): string | undefined {
  if (devices === undefined || minimum <= devices / 2) return undefined;
  const most = Math.floor(devices / 2);
  const advice =
    most < FEWEST ? `with ${2 * FEWEST} devices, choose --minimum ${FEWEST}` : `choose a --minimum of at most ${most}`;
  return `warning: every batch needs ${minimum} of ${devices} devices, so a few that spoil their updates can stop the task; ${advice}`;
}

/** Undefined if devices take part without being told to ask for less. */
export function floorWarning(minimum: number): string | undefined {
  if (minimum >= FEWEST) return undefined;
  return `warning: a sum may contain only ${minimum} updates, and devices demand at least ${FEWEST}: they take part only with \`basa client --minimum ${minimum}\`, floor: { minimum: ${minimum} }, or Floor(minimum=${minimum}) in Python`;
}

export const NOISE_FLAGS = {
  noise: flag.positive({
    value: 'z',
    help: 'noise multiplier: the standard deviation of the noise in a sum over the clip; from 1 on, the task is private',
    without: 'K/100, at most 1; less for a large model',
  }),
  'no-noise': flag.yes('no noise: devices take part only if their applications accept exact sums'),
  participations: flag.whole({
    help: 'privacy budget: number of sums that a device may be part of; each costs 1/(2 z^2) of zCDP',
    min: 1,
    max: 2 ** 32 - 1,
    without: 'with z of at least 1: --versions, else 100',
  }),
};

export const STATISTICS_FLAGS = {
  statistics: flag.text({
    value: 'file',
    help: 'gather statistics instead of training a model: a JSON file of fields by name, each { low, high, step }, { edges } or { choices }',
  }),
  field: flag.texts({
    value: 'field',
    help: 'a field of statistics: name:number:low:high:step, name:histogram:edge,edge,... or name:choices:word,word,...',
  }),
  window: flag.whole({
    value: 'seconds',
    help: 'a device reports its statistics at most once in so much time; --participations is the number of planned windows',
    min: 1,
    max: 4_294_967,
    default: 3600,
  }),
  'unsafe-exact': flag.yes('statistics without noise: each device then reports once in the life of the task'),
};

interface NoiseFlags {
  readonly noise: number | undefined;
  readonly participations: number | undefined;
  readonly 'no-noise': boolean;
  readonly 'unsafe-exact': boolean;
}

/** The noise of a task, or its absence, which has one name for models and another one for statistics. */
export function noiseOf(
  flags: NoiseFlags,
  isStatistics: boolean,
  more: PrivacyChoice = {},
): Pick<TaskSettings & StatisticsSettings, 'noNoise' | 'unsafeExact' | 'privacy'> {
  if (isStatistics && flags['no-noise'])
    throw new CommandError('statistics without noise need --unsafe-exact instead of --no-noise');
  if (!isStatistics && flags['unsafe-exact'])
    throw new CommandError('--unsafe-exact needs --statistics or --field; add one, or remove --unsafe-exact');
  const { noise: noiseMultiplier, participations } = flags;
  const privacy = defined({ noiseMultiplier, participations, ...more });
  if (more.delta !== undefined && participations === undefined && (noiseMultiplier ?? 0) < 1 && !isStatistics)
    throw new CommandError('delta needs --participations, or --noise of at least 1; add one, or remove delta');
  const [other] = Object.keys(privacy).map((name) => (name === 'noiseMultiplier' ? 'noise' : name));
  if (!flags['no-noise'] && !flags['unsafe-exact']) return other === undefined ? {} : { privacy };
  const name = isStatistics ? 'unsafe-exact' : 'no-noise';
  if (other !== undefined) throw new CommandError(`--${name} excludes --${other}; remove one of them`);
  return isStatistics ? { unsafeExact: true } : { noNoise: true };
}

interface FieldFlags {
  readonly statistics: string | undefined;
  readonly field: readonly string[];
}

/** The fields of a statistics task: those of the file, then those that were typed. Undefined for a task that trains a model. */
export async function fieldDefinitions({ statistics, field }: FieldFlags): Promise<FieldDefinitions | undefined> {
  if (statistics === undefined && field.length === 0) return undefined;
  const own = Object.fromEntries(field.map(fieldIn));
  if (statistics === undefined) return own;
  return { ...(await contentOf('--statistics', statistics, (text) => JSON.parse(String(text)))), ...own };
}

function fieldIn(typed: string): readonly [string, FieldDefinitions[string]] {
  const [name = '', kind, ...rest] = typed.split(':');
  const words = (rest[0] ?? '').split(',');
  if (kind === 'choices' && rest.length === 1) return [name, { choices: words }];
  const numbers = (kind === 'histogram' && rest.length === 1 ? words : rest).map((word) =>
    word.trim() === '' ? Number.NaN : Number(word),
  );
  const isRead = numbers.every(Number.isFinite);
  if (isRead && kind === 'histogram' && rest.length === 1) return [name, { edges: numbers }];
  const [low = 0, high = 0, step = 0] = numbers;
  if (isRead && kind === 'number' && numbers.length === 3) return [name, { low, high, step }];
  throw new CommandError(
    `--field takes name:number:low:high:step, name:histogram:edge,edge,... or name:choices:word,word,..., got "${typed}"`,
  );
}

export const metricsFlag = flag.parsed<readonly Training.MetricRange[]>(
  {
    value: 'list',
    help: 'metrics to average over the devices, as name:low:high separated by commas, for example loss:0:5,accuracy:0:1',
  },
  'name:low:high, separated by commas',
  (given) => {
    if (given === '') return [];
    const ranges = given.split(',').map((item) => {
      const [name = '', low = '', high = '', ...rest] = item.split(':');
      const range = { name, low: Number(low), high: Number(high) };
      const isRange = rest.length === 0 && low !== '' && high !== '' && range.low < range.high;
      return name !== '' && isRange ? range : undefined;
    });
    return ranges.every((range) => range !== undefined) ? ranges : undefined;
  },
);

type Kind = 'boolean' | 'number' | 'object' | 'string';
/** A new field of the policy has to be here, or needs a flag of its own, as these have. */
type WithoutFlag = Exclude<keyof OneShotPolicy, 'combine' | 'epochMs' | 'sealing' | 'stepUpdates'>;

/** The settings of `createTask` that have no flag of their own, with the kind of their value. */
const SETTINGS = {
  authorityNoise: 'boolean',
  bits: 'number',
  colluders: 'number',
  delta: 'number',
  departMs: 'number',
  divideBy: 'string',
  maxStaleness: 'number',
  minIntervalMs: 'number',
  places: 'number',
  serverStep: 'object',
  stallMs: 'number',
  stepWindowMs: 'number',
  tolerated: 'number',
  training: 'object',
  uploadLeaseMs: 'number',
  versionMinimum: 'number',
} as const satisfies Readonly<Record<WithoutFlag, Kind> & Record<string, Kind>>;
/** Those of a statistics task. */
const OF_STATISTICS: readonly string[] = ['authorityNoise', 'colluders', 'delta', 'tolerated'];

export const setFlag = flag.texts({
  value: 'key=value',
  help: `set a setting of createTask that has no flag: ${Object.keys(SETTINGS).join(', ')}; objects are JSON, such as 'training={"epochs":2}'`,
});

export interface MoreSettings {
  readonly settings: Partial<TaskSettings>;
  /** Those of the noise. */
  readonly privacy: PrivacyChoice;
}

export function settingsOf(typed: readonly string[], isStatistics: boolean): MoreSettings {
  const { colluders, delta, ...settings } = Object.fromEntries(typed.map((one) => settingOf(one, isStatistics)));
  return { settings, privacy: defined({ colluders, delta }) as PrivacyChoice };
}

function settingOf(typed: string, isStatistics: boolean): readonly [string, unknown] {
  const [, key = '', value = ''] = /^(\w+)=(.*)$/s.exec(typed) ?? [];
  if (!Object.hasOwn(SETTINGS, key))
    throw new CommandError(`--set takes key=value with one of ${Object.keys(SETTINGS).join(', ')}, got "${typed}"`);
  if (isStatistics && !OF_STATISTICS.includes(key))
    throw new CommandError(`--set ${key} is for tasks with a model; remove it`);
  const kind = SETTINGS[key as keyof typeof SETTINGS];
  const read = kind === 'string' ? value : jsonOf(value);
  if (typeof read === kind && read !== null) return [key, read];
  throw new CommandError(`--set ${key} takes ${kind === 'object' ? 'an object in JSON' : `a ${kind}`}, got "${value}"`);
}

function jsonOf(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}
