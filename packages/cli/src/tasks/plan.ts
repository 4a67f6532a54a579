/** `basa plan`: the costs of a task before it is created, by buffer size, or with the effects of its noise. */
import { devicesFlag, spoilerWarning } from '../flags/fitting.ts';
import { chosenModel } from '../flags/models.ts';
import { MOST_UPDATES, sealingFlag, VERSION_FLAGS, versionSettings } from '../flags/modes.ts';
import { PRIVACY_FLAGS, privacyChoice } from '../flags/privacy.ts';
import { STATISTICS_FLAGS, statisticsFields } from '../flags/statistics.ts';
import { MAX_AUTHORITIES, thresholdFlag, toleratedFlag } from '../flags/threshold.ts';
import { type Command, CommandError, command, EXIT_CODE } from '../shell/command.ts';
import { positive, text, whole } from '../shell/flag.ts';
import { table } from '../shell/terminal.ts';
import { planPrivacy } from './private-plan.ts';
import { planStatistics } from './statistics-plan.ts';
import type { SealingCosts, SizeCost, UploadCost } from './upload-costs.ts';

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
    ...VERSION_FLAGS,
    sealing: sealingFlag,
    authorities: whole({ help: 'number of authorities for the task', min: 1, max: MAX_AUTHORITIES, default: 1 }),
    threshold: thresholdFlag,
    tolerated: toleratedFlag,
    minimum: whole({ help: 'Kmin: the smallest number of updates in a sum', min: 2, without: '80 % of K' }),
    devices: devicesFlag,
    clip: positive({ help: 'C: updates are clipped to this norm', without: 'the clip in model.ts, else 1' }),
    ...PRIVACY_FLAGS,
    ...STATISTICS_FLAGS,
    uplink: positive({ value: 'Mbit/s', help: 'uplink of a device, for the duration of an upload', default: 10 }),
  },
  async run({ flags, terminal }) {
    const fields = await statisticsFields(flags);
    if (fields !== undefined) return planStatistics({ flags, terminal }, fields);
    const { elementBits } = await import('@basa/masking');
    const { noiseWords } = await import('@basa/protocol/policy');
    const { costsBySize, sealingCosts, uploadCost } = await import('./upload-costs.ts');
    const { dimension, clip } = await sizeOf(flags);
    const { buffer: bufferSize, minimum: least } = flags;
    const warning = spoilerWarning(least ?? Math.ceil(0.8 * bufferSize), flags.devices);
    if (warning !== undefined) terminal.warn(warning);
    const privacy = await privacyChoice(flags, { bufferSize, dimension });
    const { stepUpdates = bufferSize } = versionSettings(flags);
    const isCentral = flags.authorities === 1;
    if (privacy === undefined || (flags.noise === undefined && flags.participations === undefined)) {
      const sizes = costsBySize({ ...flags, bufferSize, dimension, clip });
      terminal.line(sizesTable(sizes));
      const usual = privacy && (await planPrivacy({ privacy, dimension, bufferSize, minimum: least, clip, isCentral }));
      if (typeof usual === 'string') terminal.line(`\nThe default noise is not possible: ${usual}`);
      else terminal.line(`\n${(usual?.words ?? noiseWords(EXACT)).sentence}`);
      const by = isCentral ? 'authority' : 'devices';
      return { json: { dimension, sizes, ...(privacy !== undefined && { noise: { ...privacy, by } }) } };
    }
    const planned = await planPrivacy({ privacy, dimension, bufferSize, minimum: least, clip, isCentral });
    if (typeof planned === 'string') {
      terminal.line(`this task is not possible: ${planned}`);
      return { json: { refused: planned }, exitCode: EXIT_CODE.failed };
    }
    const { minimum, colluders, delta, epsilon, cost, advice } = planned;
    const { modulus, neededBits, level, noise } = planned.plan;
    const upload = uploadCost({ ...flags, dimension, modulus });
    const { bytesPerUpload } = upload;
    const secondsPerUpload = (8 * bytesPerUpload) / (1e6 * flags.uplink);
    terminal.line(
      table([
        ['noise', planned.words.sentence],
        ['zCDP cost (rho) of one participation', cost.toPrecision(3)],
        [
          `noise of ${isCentral ? 'the authority' : 'one device'}`,
          `standard deviation ${noise.deviation.toFixed(1)} steps, enough if ${noise.honest} devices are honest`,
        ],
        ['step', `${stepUpdates} updates of different devices`],
        ['quantisation', `level ${level}, ${elementBits(modulus)} bits for each entry (${neededBits} needed)`],
        ['upload', `${bytesPerUpload} bytes, ${secondsPerUpload.toFixed(2)} s`],
      ]),
    );
    terminal.line(`\nCost of one contribution for a device, which does not depend on K:\n${uploadTable(upload)}`);
    const sealings = sealingCosts(flags.authorities, upload);
    terminal.line(sealingsTable(sealings));
    for (const sentence of advice) terminal.line(sentence);
    const json = {
      epsilon,
      delta,
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
      stepUpdates,
      combine: flags.combine,
      upload,
      sealing: flags.sealing,
      sealings,
      advice,
    };
    return { json };
  },
});

/** A task without noise. */
const EXACT = { privacy: undefined, metrics: [], oneShot: undefined };

function sizesTable(sizes: readonly SizeCost[]): string {
  const rows = [
    ['K', 'bits of an entry', 'masks', 'upload bytes'],
    ...sizes.map(({ bufferSize, bits, masks, bytesPerUpload }) =>
      [bufferSize, bits, masks, bytesPerUpload].map(String),
    ),
  ];
  return ['Cost of one contribution for a device, by buffer size K:', table(rows)].join('\n');
}

function uploadTable({ masks, sealedBytes, bytesPerUpload }: UploadCost): string {
  return table([
    ['masks to expand', String(masks)],
    ['bytes of encrypted seeds', String(sealedBytes)],
    ['bytes of the upload', String(bytesPerUpload)],
  ]);
}

function sealingsTable(sealings: SealingCosts): string {
  const rows = Object.entries(sealings).map(([sealing, { sealedBytes, sealMs, openMs }]) => [
    sealing,
    `${sealedBytes} bytes`,
    `${sealMs.toFixed(2)} ms to encrypt`,
    `${openMs.toFixed(2)} ms for an authority to decrypt`,
  ]);
  return `\nEncrypted seeds of an upload, by --sealing, measured on this machine:\n${table(rows)}`;
}

async function sizeOf(flags: {
  readonly dimension: number | undefined;
  readonly model: string | undefined;
  readonly clip: number | undefined;
}): Promise<{ readonly dimension: number; readonly clip: number }> {
  const { dimension, model, clip } = flags;
  if (dimension !== undefined) return { dimension, clip: clip ?? 1 };
  if (model !== undefined) {
    const chosen = await chosenModel(model);
    return { dimension: chosen.model.dimension, clip: clip ?? chosen.clip ?? 1 };
  }
  throw new CommandError('the size of the model is missing; add --dimension <d> or --model <name>');
}
