/** The fields of a statistics task: flags of `task create`, `plan` and `simulate`. */
import { readFile } from 'node:fs/promises';
import type { PrivacyChoice } from '@basa/client/operator';
import type { FieldDefinitions } from '@basa/protocol/policy';
import { CommandError, type CommandInput } from '../shell/command.ts';
import { text, texts, whole, yes } from '../shell/flag.ts';
import type { PRIVACY_FLAGS } from './privacy.ts';

export const STATISTICS_FLAGS = {
  statistics: text({
    value: 'file',
    help: 'gather statistics instead of training a model: a JSON file of fields by name, each { low, high, step }, { edges } or { choices }',
  }),
  field: texts({
    value: 'field',
    help: 'a field of statistics: name:number:low:high:step, name:histogram:edge,edge,... or name:choices:word,word,...',
  }),
  window: whole({
    value: 'seconds',
    help: 'a device reports its statistics at most once in so much time; --participations is the number of planned windows',
    min: 1,
    max: 4_294_967,
    default: 3600,
  }),
  'unsafe-exact': yes('statistics without noise: each device then reports once in the life of the task'),
};

type Flags = CommandInput<typeof STATISTICS_FLAGS>['flags'];

/** Undefined for a task that trains a model. */
export async function statisticsFields({
  statistics,
  field,
}: Pick<Flags, 'statistics' | 'field'>): Promise<FieldDefinitions | undefined> {
  if (statistics === undefined && field.length === 0) return undefined;
  const own = field.map((one) => fieldIn(one) ?? badField(one));
  return { ...(statistics !== undefined && (await fieldsIn(statistics))), ...Object.fromEntries(own) };
}

function badField(given: string): never {
  throw new CommandError(
    `--field takes name:number:low:high:step, name:histogram:edge,edge,... or name:choices:word,word,..., got "${given}"`,
  );
}

function fieldIn(given: string): readonly [string, FieldDefinitions[string]] | undefined {
  const [name = '', kind, first = '', ...rest] = given.split(':');
  const items = first.split(',');
  if (kind === 'choices' && rest.length === 0) return [name, { choices: items }];
  if (kind === 'histogram' && rest.length === 0 && items.every(isNumber)) return [name, { edges: items.map(Number) }];
  const [low, high, step] = [first, ...rest].map(Number);
  if (kind !== 'number' || rest.length !== 2 || ![first, ...rest].every(isNumber)) return undefined;
  return [name, { low: low as number, high: high as number, step: step as number }];
}

function isNumber(given: string): boolean {
  return given.trim() !== '' && Number.isFinite(Number(given));
}

async function fieldsIn(file: string): Promise<FieldDefinitions> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as FieldDefinitions;
  } catch (error) {
    throw new CommandError(`--statistics ${file}: ${(error as Error).message}`);
  }
}

type NoiseFlags = Pick<Flags, 'unsafe-exact'> &
  CommandInput<typeof PRIVACY_FLAGS>['flags'] & { readonly 'noise-by'?: unknown };

const OF_NOISE = ['noise', 'noise-by', 'participations', 'delta', 'colluders'] as const;

/** Exact statistics have a name of their own, and no noise. */
export function statisticsNoise(flags: NoiseFlags): PrivacyChoice {
  if (flags['no-noise'] === true)
    throw new CommandError('statistics without noise need --unsafe-exact instead of --no-noise');
  const noisy = OF_NOISE.find((one) => flags[one] !== undefined);
  if (flags['unsafe-exact'] && noisy !== undefined)
    throw new CommandError(`--unsafe-exact excludes --${noisy}; remove one of them`);
  const { noise, delta, colluders, participations } = flags;
  return {
    ...(noise !== undefined && { noiseMultiplier: noise }),
    ...(delta !== undefined && { delta }),
    ...(colluders !== undefined && { colluders }),
    ...(participations !== undefined && { participations }),
  };
}
