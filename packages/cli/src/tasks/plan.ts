/** `basa plan`: the costs of a task before it is created, by the number of updates in a sum, and the effects of its noise. */
import type { FieldDefinitions, TaskPolicy } from '@basa/protocol/policy';
import { chosenModel } from '../flags/models.ts';
import * as taskFlags from '../flags/task.ts';
import * as flag from '../shell/command.ts';
import { type Command, CommandError, type CommandInput, command, defined, EXIT_CODE } from '../shell/command.ts';
import { table } from '../shell/terminal.ts';

const FLAGS = {
  dimension: flag.whole({
    value: 'd',
    help: 'number of parameters of the model; or use --model',
    min: 1,
    max: 2 ** 31,
  }),
  model: flag.text({ value: 'name', help: 'name or file of the model, as in `basa task create`' }),
  buffer: flag.whole({ ...taskFlags.bufferFlag, default: 100 }),
  sealing: taskFlags.sealingFlag,
  authorities: taskFlags.authoritiesFlag,
  threshold: taskFlags.thresholdFlag,
  minimum: flag.whole({ help: 'Kmin: the smallest number of updates in a sum', min: 2, without: '80 % of K' }),
  devices: taskFlags.devicesFlag,
  clip: flag.positive({ help: 'C: updates are clipped to this norm', without: 'the clip in the model file, else 1' }),
  ...taskFlags.NOISE_FLAGS,
  ...taskFlags.STATISTICS_FLAGS,
};
type Flags = CommandInput<typeof FLAGS>['flags'];

/** The buffer sizes of a comparison. */
const SIZES = [10, 32, 100, 320, 1000, 10_000];

export const plan: Command = command({
  name: 'plan',
  summary: 'compute the costs of a task and the effects of its noise before you create it',
  flags: FLAGS,
  async run({ flags, terminal }) {
    const { buffer, devices, minimum = Math.ceil(0.8 * buffer) } = flags;
    const warning = taskFlags.spoilerWarning(minimum, devices);
    if (warning !== undefined) terminal.warn(warning);
    const policyOf = await policiesOf(flags);
    const own = await policyOf(buffer);
    if (typeof own === 'string') {
      terminal.line(`this task is not possible: ${own}`);
      return { json: { refused: own }, exitCode: EXIT_CODE.failed };
    }
    const { costsOf, noiseAdvice, noisePrice } = await import('./policy-costs.ts');
    const { DEVIATIONS, shown } = await import('./statistics.ts');
    const others = SIZES.filter((size) => size !== buffer && size >= (flags.minimum ?? 2));
    const policies = await Promise.all(others.map(policyOf));
    const sizes = [own, ...policies.filter((one) => typeof one !== 'string')]
      .map(costsOf)
      .sort((a, b) => a.bufferSize - b.bufferSize);
    const row = (name: string, of: (size: (typeof sizes)[number]) => number | undefined): string[] => [
      name,
      ...sizes.map((size) => shown(of(size))),
    ];
    const by = own.oneShot?.authorityNoise === true ? 'the authority' : 'one device';
    terminal.line(
      table([
        ['', ...sizes.map(({ bufferSize }) => `K = ${bufferSize}`)],
        row('Kmin', (size) => size.minimum),
        row('noise multiplier', (size) => size.noise),
        row('epsilon', (size) => size.epsilon),
        row(`noise of ${by}, in steps`, (size) => size.deviation),
        row('level', (size) => size.level),
        row('bits of an entry', (size) => size.bits),
        row('masks to expand', (size) => size.masks),
        row('bytes of encrypted seeds', (size) => size.sealedBytes),
        row('bytes of an upload', (size) => size.bytesPerUpload),
        ...Object.keys(sizes[0]?.errors ?? {}).map((name) =>
          row(`${name} ±`, (size) => DEVIATIONS * (size.errors[name] ?? 0)),
        ),
      ]),
    );
    const { privacy, statistics } = own;
    const advice = noiseAdvice(own);
    terminal.line(`\n${noisePrice(own).join('\n')}`);
    if (statistics !== undefined)
      terminal.line(
        `${windowWords(own)} ± is the 95 % error bar: 95 % of the true values lie inside. Fewer fields make all of them more exact.`,
      );
    for (const sentence of advice) terminal.line(sentence);
    const { noiseMultiplier, colluders, budget } = privacy ?? {};
    const json = {
      ...sizes.find(({ bufferSize }) => bufferSize === buffer),
      ...{ noiseMultiplier, colluders, ...budget, tolerated: own.oneShot?.tolerated },
      ...{ dimension: own.dimension, sizes, advice },
      ...(statistics !== undefined && { windowMs: statistics.windowMs }),
    };
    return { json };
  },
});

function windowWords({ privacy, statistics }: TaskPolicy): string {
  const windows = privacy?.budget?.participations;
  return windows === undefined
    ? 'Each device reports once in the life of the task.'
    : `Each device reports in at most ${windows} windows of ${(statistics?.windowMs ?? 0) / 1000} s.`;
}

/** The policy for each K as `basa task create` would make it, or the sentence that refuses it. */
async function policiesOf(flags: Flags): Promise<(bufferSize: number) => Promise<TaskPolicy | string>> {
  const { makePolicy, SettingsError, statisticsPolicy, TASK_DEFAULTS } = await import('@basa/client/operator');
  const { authorities, minimum, sealing, threshold, window } = flags;
  const fields = await taskFlags.fieldDefinitions(flags);
  const key = (n: number): Uint8Array => new Uint8Array(32).fill(n);
  const keys = { serverKey: key(0), authorities: Array.from({ length: authorities }, (_, n) => key(n + 1)) };
  const common = {
    name: 'plan',
    ...defined({ minimum, sealing, threshold }),
    ...taskFlags.noiseOf(flags, fields !== undefined),
  };
  const make = fields === undefined ? await ofModel() : ofFields(fields);
  return async (bufferSize) => {
    try {
      return await make(bufferSize);
    } catch (error) {
      if (error instanceof SettingsError) return error.message;
      throw error;
    }
  };

  async function ofModel(): Promise<(bufferSize: number) => Promise<TaskPolicy>> {
    const { model, clip = 1 } = await sizeOf(flags);
    return (bufferSize) =>
      makePolicy({ ...TASK_DEFAULTS, ...keys, ...common, model, bufferSize, clip: flags.clip ?? clip });
  }

  function ofFields(own: FieldDefinitions): (bufferSize: number) => Promise<TaskPolicy> {
    if (flags.dimension !== undefined || flags.model !== undefined)
      throw new CommandError('--dimension and --model are for tasks with a model; remove them, or the fields');
    return async (bufferSize) =>
      statisticsPolicy({ ...common, fields: own, windowMs: 1000 * window, bufferSize }, keys);
  }
}

async function sizeOf({ dimension, model: name }: Flags) {
  if (name !== undefined) return chosenModel(name);
  if (dimension === undefined)
    throw new CommandError('the size of the model is missing; add --dimension <d> or --model <name>');
  const { readNetworkJson } = await import('@basa/learning');
  const tensors = [{ name: 'parameters', shape: [dimension] }];
  const input = { height: 1, width: 1, channels: 1 };
  return { model: readNetworkJson({ name: 'plan', input, architecture: [], tensors }), clip: undefined };
}
