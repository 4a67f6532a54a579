/** `basa plan --statistics`: level, noise and errors of a statistics task by the number of devices in a sum, and epsilon over its windows. */
import type { FieldDefinitions, Sealing, TaskPolicy } from '@basa/protocol/policy';
import type { PRIVACY_FLAGS } from '../flags/privacy.ts';
import { type STATISTICS_FLAGS, statisticsNoise } from '../flags/statistics.ts';
import { CommandError, type CommandInput, type CommandResult, EXIT_CODE } from '../shell/command.ts';
import { table } from '../shell/terminal.ts';
import { weaknessOf } from './private-plan.ts';
import { fieldErrors, shown } from './statistics-words.ts';

type Asked = Pick<CommandInput, 'terminal'> & {
  readonly flags: CommandInput<typeof PRIVACY_FLAGS & typeof STATISTICS_FLAGS>['flags'] & {
    readonly dimension: number | undefined;
    readonly model: string | undefined;
    readonly buffer: number;
    readonly minimum: number | undefined;
    readonly authorities: number;
    readonly threshold: number | undefined;
    readonly tolerated: number | undefined;
    readonly sealing: Sealing;
  };
};

interface PlannedSize {
  readonly bufferSize: number;
  readonly minimum: number;
  readonly level: number;
  /** Of each word of a report, or of a sum if the authority adds it; 0 without noise. */
  readonly deviation: number;
  readonly bits: number;
  readonly bytesPerUpload: number;
  /** Of a mean or of each bucket, by field. */
  readonly errors: Readonly<Record<string, number>>;
}

const SIZES = [10, 32, 100, 1000];

export async function planStatistics({ flags, terminal }: Asked, fields: FieldDefinitions): Promise<CommandResult> {
  const { dimension, model, buffer, minimum = 2, window, authorities } = flags;
  if (dimension !== undefined || model !== undefined)
    throw new CommandError(
      '--dimension and --model are for tasks with a model; remove them, or --statistics and --field',
    );
  const sizes = [...new Set([...SIZES, buffer])].filter((size) => size >= minimum).sort((a, b) => a - b);
  const planned: PlannedSize[] = [];
  const refused: { readonly bufferSize: number; readonly why: string }[] = [];
  let policy: TaskPolicy | undefined;
  for (const size of sizes) {
    const own = await policyOf(flags, fields, size);
    if (typeof own === 'string') {
      refused.push({ bufferSize: size, why: own });
    } else {
      policy = own;
      planned.push(await planSize(flags, own));
    }
  }
  if (policy === undefined) {
    terminal.line(`this task is not possible: ${refused[0]?.why}`);
    return { json: { refused }, exitCode: EXIT_CODE.failed };
  }
  for (const { bufferSize, why } of refused) terminal.line(`K = ${bufferSize} is not possible: ${why}`);
  const { epsilonBudget, noiseWords } = await import('@basa/protocol/policy');
  const by = authorities === 1 ? 'of the authority' : 'of one device';
  const kinds = new Map((await fieldErrors(policy)).map(({ name, kind }) => [name, kind]));
  const row = (name: string, of: (size: PlannedSize) => string | number): string[] => [
    name,
    ...planned.map((size) => String(of(size))),
  ];
  terminal.line(
    table([
      ['', ...planned.map(({ bufferSize }) => `K = ${bufferSize}`)],
      row('Kmin', (size) => size.minimum),
      row('level', (size) => size.level),
      row(`noise ${by}, in steps`, (size) => shown(size.deviation)),
      row('bits of an entry', (size) => size.bits),
      row('upload bytes', (size) => size.bytesPerUpload),
      ...[...kinds].map(([name, kind]) =>
        row(`error of ${kind === 'number' ? 'the mean' : 'a bucket'}: ${name}`, (size) =>
          shown(size.errors[name] as number),
        ),
      ),
    ]),
  );
  const { budget, noiseMultiplier = 0 } = policy.privacy ?? {};
  const { participations: windows, delta } = budget ?? {};
  const epsilon = epsilonBudget(policy);
  const advice = await weaknessOf(epsilon, noiseMultiplier);
  for (const sentence of [
    `\n${noiseWords(policy).sentence}`,
    windows === undefined
      ? 'Each device reports once in the life of the task.'
      : `Each device reports in at most ${windows} windows of ${window} s.`,
    ...advice,
    'Errors are standard deviations: 95 % of the true values lie within 1.96 of them. Fewer fields make all of them more exact.',
  ])
    terminal.line(sentence);
  return { json: { statistics: { windows, windowSeconds: window, epsilon, delta, sizes: planned, refused, advice } } };
}

async function policyOf(flags: Asked['flags'], fields: FieldDefinitions, size: number): Promise<TaskPolicy | string> {
  const { SettingsError } = await import('@basa/client/node');
  const { statisticsPolicy } = await import('@basa/client/operator');
  const { minimum, threshold, tolerated } = flags;
  const key = (n: number): Uint8Array => new Uint8Array(32).fill(n);
  const keys = { serverKey: key(0), authorities: Array.from({ length: flags.authorities }, (_, n) => key(n + 1)) };
  try {
    return statisticsPolicy(
      {
        ...{ name: 'plan', fields, windowMs: 1000 * flags.window, bufferSize: size, sealing: flags.sealing },
        unsafeExact: flags['unsafe-exact'],
        ...(minimum !== undefined && { minimum }),
        ...(threshold !== undefined && { threshold }),
        ...(tolerated !== undefined && { tolerated }),
        privacy: statisticsNoise(flags),
      },
      keys,
    );
  } catch (error) {
    if (error instanceof SettingsError) return error.message;
    throw error;
  }
}

async function planSize(flags: Asked['flags'], policy: TaskPolicy): Promise<PlannedSize> {
  const { elementBits } = await import('@basa/masking');
  const { taskNoise } = await import('@basa/protocol/policy');
  const { uploadCost } = await import('./upload-costs.ts');
  const { bufferSize, minimum, level, modulus, dimension } = policy;
  return {
    bufferSize,
    minimum,
    level,
    deviation: taskNoise(policy)?.deviation ?? 0,
    bits: elementBits(modulus),
    bytesPerUpload: uploadCost({ ...flags, dimension, modulus }).bytesPerUpload,
    errors: Object.fromEntries((await fieldErrors(policy)).map(({ name, error }) => [name, error])),
  };
}
