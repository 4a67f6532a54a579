/** `basa plan`: the costs of a task before it is created, by buffer size, or with the effects of its noise. */
import { chosenModel } from '../flags/models.ts';
import {
  bufferWithin,
  MOST_UPDATES,
  type ModeChoice,
  modeFlag,
  sealingFlag,
  sealingOf,
  uncheckedSumsFlag,
  VERSION_FLAGS,
  versionSettings,
} from '../flags/modes.ts';
import { PRIVACY_FLAGS, privacyChoice } from '../flags/privacy.ts';
import { MAX_AUTHORITIES, thresholdFlag } from '../flags/threshold.ts';
import { type Command, CommandError, command, EXIT_CODE } from '../shell/command.ts';
import { positive, text, whole } from '../shell/flag.ts';
import { table } from '../shell/terminal.ts';
import type { ModeCost, ModeCosts, SealingCosts, SizeCosts } from './mode-costs.ts';
import { planPrivacy } from './private-plan.ts';

export const plan: Command = command({
  name: 'plan',
  summary: 'compute the cost of a task before you create it; with --noise, also its epsilon and its noise',
  flags: {
    dimension: whole({ value: 'd', help: 'number of parameters of the model; or use --model', min: 1, max: 2 ** 31 }),
    model: text({ value: 'name', help: 'name or file of the model, as in `basa task create`' }),
    buffer: whole({
      help: 'buffer size K: the number of updates in a sum',
      min: 2,
      max: MOST_UPDATES['one-shot'],
      default: 100,
    }),
    mode: modeFlag,
    ...VERSION_FLAGS,
    sealing: sealingFlag,
    authorities: whole({ help: 'number of authorities for the task', min: 1, max: MAX_AUTHORITIES, default: 1 }),
    threshold: thresholdFlag,
    'unsafe-unchecked-sums': uncheckedSumsFlag,
    minimum: whole({ help: 'Kmin: the smallest number of updates in a sum', min: 2, without: '80 % of K' }),
    clip: positive({ help: 'C: updates are clipped to this norm', default: 1 }),
    ...PRIVACY_FLAGS,
    uplink: positive({ value: 'Mbit/s', help: 'uplink of a device, for the duration of an upload', default: 10 }),
  },
  async run({ flags, terminal }) {
    const { elementBits } = await import('@basa/masking');
    const { costsBySize, modeCosts, sealingCosts } = await import('./mode-costs.ts');
    const privacy = privacyChoice(flags);
    const dimension = await dimensionOf(flags);
    const { clip, mode } = flags;
    const bufferSize = bufferWithin(flags.buffer, mode);
    const { sumsPerVersion = 1 } = versionSettings(flags) ?? {};
    sealingOf(flags);
    if (privacy === undefined) {
      const sizes = costsBySize({ ...flags, unchecked: flags['unsafe-unchecked-sums'], bufferSize, dimension });
      terminal.line(sizesTable(sizes));
      terminal.line(
        '\nFor a private task, add --noise <z> and --participations <n>, for example --noise 1 --participations 20.',
      );
      return { json: { dimension, sizes } };
    }
    const planned = await planPrivacy({ privacy, dimension, bufferSize, minimum: flags.minimum, clip, mode });
    if (typeof planned === 'string') {
      terminal.line(`this task is not possible: ${planned}`);
      return { json: { works: false, refused: planned }, exitCode: EXIT_CODE.failed };
    }
    const { minimum, colluders, delta, works, advice } = planned;
    const { epsilon, cost, noiseToSignal, modulus, neededBits, level, noise } = planned.plan;
    const modes = modeCosts({ ...flags, unchecked: flags['unsafe-unchecked-sums'], bufferSize, dimension, modulus });
    const { bytesPerUpload } = costsOfMode(modes, mode);
    const secondsPerUpload = (8 * bytesPerUpload) / (1e6 * flags.uplink);
    terminal.line(
      table([
        ['epsilon after all participations', `${epsilon.toFixed(2)} at delta ${delta}`],
        ['zCDP cost (rho) of one participation', cost.toPrecision(3)],
        ['noise over signal in one sum', `${noiseToSignal.toPrecision(3)} (relative to the largest possible mean)`],
        [
          'noise of one device',
          `standard deviation ${noise.deviation.toFixed(1)} steps, enough if ${noise.honest} devices are honest`,
        ],
        [
          'version',
          `${sumsPerVersion * bufferSize} updates of different devices (${sumsPerVersion} x ${bufferSize}), noise over signal ${(noiseToSignal / Math.sqrt(sumsPerVersion)).toPrecision(3)}`,
        ],
        ['quantisation', `level ${level}, ${elementBits(modulus)} bits for each entry (${neededBits} needed)`],
        ['upload', `${bytesPerUpload} bytes, ${secondsPerUpload.toFixed(2)} s`],
      ]),
    );
    terminal.line(
      `\nCost of one contribution for a device with K = ${bufferSize}, in each mode:\n${modesTable(modes)}`,
    );
    const sealings = sealingCosts(flags, modes);
    if (sealings !== undefined) terminal.line(sealingsTable(sealings));
    for (const sentence of advice) terminal.line(sentence);
    const json = {
      works,
      epsilon,
      delta,
      noiseToSignal,
      bits: elementBits(modulus),
      neededBits,
      bytesPerUpload,
      secondsPerUpload,
      level,
      rho: cost,
      participations: privacy.participations,
      bufferSize,
      minimum,
      colluders,
      sumsPerVersion,
      combine: flags.combine,
      mode,
      modes,
      sealing: flags.sealing,
      sealings,
      advice,
    };
    return { json, ...(!works && { exitCode: EXIT_CODE.failed }) };
  },
});

function costsOfMode(modes: ModeCosts, mode: ModeChoice): ModeCost {
  const cost = modes[mode];
  if ('impossible' in cost) throw new CommandError(`this task is not possible: ${cost.impossible}`);
  return cost;
}

function sizesTable(sizes: readonly SizeCosts[]): string {
  const cells = (modes: ModeCosts): readonly string[] =>
    Object.values(modes).flatMap((cost) =>
      'impossible' in cost ? ['-', '-'] : [String(cost.masks), String(cost.bytesPerUpload)],
    );
  const rows = [
    ['', '', 'sealed mode', '', 'one-shot mode', ''],
    ['K', 'bits of an entry', 'masks', 'upload bytes', 'masks', 'upload bytes'],
    ...sizes.map(({ bufferSize, bits, modes }) => [String(bufferSize), String(bits), ...cells(modes)]),
  ];
  const whys = sizes.flatMap(({ modes }) => impossibleIn(modes));
  return ['Cost of one contribution for a device, by buffer size K:', table(rows), ...new Set(whys)].join('\n');
}

function impossibleIn(modes: ModeCosts): readonly string[] {
  return Object.entries(modes).flatMap(([mode, cost]) => ('impossible' in cost ? `${mode}: ${cost.impossible}` : []));
}

function modesTable(modes: ModeCosts): string {
  const row = (title: string, cell: (cost: ModeCost) => number): readonly string[] => [
    title,
    ...Object.values(modes).map((cost) => ('impossible' in cost ? '-' : String(cell(cost)))),
  ];
  const rows = [
    ['', ...Object.keys(modes)],
    row('masks to expand', ({ masks }) => masks),
    row('bytes of encrypted seeds', ({ sealedBytes }) => sealedBytes),
    row('bytes of the upload', ({ bytesPerUpload }) => bytesPerUpload),
  ];
  return [table(rows), ...impossibleIn(modes)].join('\n');
}

function sealingsTable(sealings: SealingCosts): string {
  const rows = Object.entries(sealings).map(([sealing, { sealedBytes, sealMs, openMs }]) => [
    sealing,
    `${sealedBytes} bytes`,
    `${sealMs.toFixed(2)} ms to encrypt`,
    `${openMs.toFixed(2)} ms for an authority to decrypt`,
  ]);
  return `\nEncrypted seeds of an upload in one-shot mode, by --sealing, measured on this machine:\n${table(rows)}`;
}

async function dimensionOf(flags: {
  readonly dimension: number | undefined;
  readonly model: string | undefined;
}): Promise<number> {
  const { dimension, model } = flags;
  if (dimension !== undefined) return dimension;
  if (model !== undefined) return (await chosenModel(model)).model.dimension;
  throw new CommandError('the size of the model is missing; add --dimension <d> or --model <name>');
}
