/** `basa plan`: the effects of a private task, before it is created. */
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
import type { ModeCost, ModeCosts, SealingCosts } from './mode-costs.ts';
import { planPrivacy } from './private-plan.ts';

export const plan: Command = command({
  name: 'plan',
  summary:
    'computes the cost of a private task: epsilon, noise, bits, masks and bytes (needs --noise and --participations)',
  flags: {
    dimension: whole({ value: 'd', help: 'parameters of the model, or --model', min: 1, max: 2 ** 31 }),
    model: text({ value: 'name', help: 'the name or file of a model' }),
    buffer: whole({ help: 'K, updates of a sum', min: 2, max: MOST_UPDATES['one-shot'], default: 100 }),
    mode: modeFlag,
    ...VERSION_FLAGS,
    sealing: sealingFlag,
    authorities: whole({ help: 'how many authorities the task has', min: 1, max: MAX_AUTHORITIES, default: 1 }),
    threshold: thresholdFlag,
    'unsafe-unchecked-sums': uncheckedSumsFlag,
    minimum: whole({ help: 'Kmin, updates a sum holds at least', min: 2, without: '80 % of K' }),
    clip: positive({ help: 'C: updates are clipped to this L2 norm', default: 1 }),
    ...PRIVACY_FLAGS,
    uplink: positive({ value: 'Mbit/s', help: 'for the seconds of an upload', default: 10 }),
  },
  async run({ flags, terminal }) {
    const { elementBits } = await import('@basa/masking');
    const { modeCosts, sealingCosts } = await import('./mode-costs.ts');
    const privacy = privacyChoice(flags);
    if (privacy === undefined)
      throw new CommandError(
        '`basa plan` is for private tasks: give --noise <z> and --participations <n>, for example --noise 1 --participations 20',
      );
    const dimension = await dimensionOf(flags);
    const { clip, mode } = flags;
    const bufferSize = bufferWithin(flags.buffer, mode);
    const { sumsPerVersion = 1 } = versionSettings(flags) ?? {};
    sealingOf(flags);
    const planned = await planPrivacy({ privacy, dimension, bufferSize, minimum: flags.minimum, clip, mode });
    if (typeof planned === 'string') {
      terminal.line(`this cannot work: ${planned}`);
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
        ['rho of one inclusion', cost.toPrecision(3)],
        ['noise over signal in a mean', `${noiseToSignal.toPrecision(3)} (at alpha = 1)`],
        ['noise of one device', `deviation ${noise.deviation.toFixed(1)} steps, enough with ${noise.honest} honest`],
        [
          'a version',
          `${sumsPerVersion * bufferSize} updates, each of another device: ${sumsPerVersion} x ${bufferSize}; its noise over signal ${(noiseToSignal / Math.sqrt(sumsPerVersion)).toPrecision(3)}`,
        ],
        ['level, bits of an entry', `${level}, ${elementBits(modulus)} (${neededBits} needed)`],
        ['an upload', `${bytesPerUpload} bytes, ${secondsPerUpload.toFixed(2)} s`],
      ]),
    );
    terminal.line(`\nwhat K = ${bufferSize} costs a device in each mode:\n${modesTable(modes)}`);
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
  if ('impossible' in cost) throw new CommandError(`this task cannot be: ${cost.impossible}`);
  return cost;
}

function modesTable(modes: ModeCosts): string {
  const row = (title: string, cell: (cost: ModeCost) => number): readonly string[] => [
    title,
    ...Object.values(modes).map((cost) => ('impossible' in cost ? '-' : String(cell(cost)))),
  ];
  const whys = Object.entries(modes).flatMap(([mode, cost]) =>
    'impossible' in cost ? `${mode}: ${cost.impossible}` : [],
  );
  const rows = [
    ['', ...Object.keys(modes)],
    row('masks to expand', ({ masks }) => masks),
    row('bytes of sealed seeds', ({ sealedBytes }) => sealedBytes),
    row('bytes of an upload', ({ bytesPerUpload }) => bytesPerUpload),
  ];
  return [table(rows), ...whys].join('\n');
}

function sealingsTable(sealings: SealingCosts): string {
  const rows = Object.entries(sealings).map(([sealing, { sealedBytes, sealMs, openMs }]) => [
    sealing,
    `${sealedBytes} bytes`,
    `${sealMs.toFixed(2)} ms to seal`,
    `${openMs.toFixed(2)} ms for an authority to open`,
  ]);
  return `\nthe sealed seeds of an upload in one-shot mode (--sealing), measured on this computer:\n${table(rows)}`;
}

async function dimensionOf(flags: {
  readonly dimension: number | undefined;
  readonly model: string | undefined;
}): Promise<number> {
  const { dimension, model } = flags;
  if (dimension !== undefined) return dimension;
  if (model !== undefined) return (await chosenModel(model)).model.dimension;
  throw new CommandError('--dimension <d> or --model <name> says how large the model is');
}
