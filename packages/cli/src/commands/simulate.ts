/** `basa simulate`: a model and data of one's own with virtual devices, under any protocol. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { OwnRun } from '@basa/experiments';
import type { Samples } from '@basa/learning';
import { allSamples, csvOf, encodeSafetensors } from '@basa/learning';
import type { Command, CommandInput } from '../command.ts';
import { CommandError, numberFlag, textFlag } from '../command.ts';
import { positive } from '../learning-flags.ts';
import { loadOwnModel } from '../own-model.ts';
import { DELAYS_USAGE, delayOf, protocolsOf, SIMULATED_PROTOCOLS } from '../simulation-flags.ts';
import { bar, plot, table } from '../terminal.ts';

export const simulate: Command = {
  name: 'simulate',
  summary: 'trains your own model on your own data with virtual devices, under any protocol',
  usage: `  <file>               a module that exports model, data and more: model.ts (\`basa new\` writes one)
  --devices <n>        virtual devices; data({ device, devices }) gives the examples of each (20)
  --at-a-time <n>      devices that train at the same time, or are of a round (20, or all)
  --buffer <n>         K, updates of a version (10, or as many as train at a time)
  --protocol <names>   with commas, or all: ${SIMULATED_PROTOCOLS.join(', ')} (sealed)
  --delay <kind>       beside the training, in seconds: ${DELAYS_USAGE} (exponential:10)
  --drop-out <percent> trips that end before their upload (0)
  --versions <n>       how many to make (50)
  --target <percent>   stop at this accuracy
  --epochs <n>         passes of a device over its examples (what the file says, or 1)
  --batch <n>          examples of a step (what the file says, or 20)
  --rate <x>           learning rate of the devices (what the file says, or 0.1)
  --compute <seconds>  how long a device trains (as long as it takes on this machine)
  --seed <n>           of delays, drop-outs, first parameters and the order of examples (1)
  --out <folder>       where curve.csv, accuracy.svg and model.safetensors go (basa-simulation)`,
  flags: {
    devices: { type: 'string' },
    'at-a-time': { type: 'string' },
    buffer: { type: 'string' },
    protocol: { type: 'string' },
    delay: { type: 'string' },
    'drop-out': { type: 'string' },
    versions: { type: 'string' },
    target: { type: 'string' },
    epochs: { type: 'string' },
    batch: { type: 'string' },
    rate: { type: 'string' },
    compute: { type: 'string' },
    seed: { type: 'string' },
    out: { type: 'string' },
  },
  positionals: 1,
  async run(input) {
    const { terminal, signal } = input;
    const [file] = input.positionals;
    if (file === undefined) throw new CommandError('which model? `basa simulate model.ts`; `basa new` writes one');
    const devices = numberFlag(input, 'devices', { least: 2, most: 100_000, fallback: 20 });
    const concurrency = numberFlag(input, 'at-a-time', { least: 2, most: devices, fallback: Math.min(20, devices) });
    const bufferSize = numberFlag(input, 'buffer', {
      least: 2,
      most: concurrency,
      fallback: Math.min(10, concurrency),
    });
    const versions = numberFlag(input, 'versions', { least: 1, most: 100_000, fallback: 50 });
    const dropouts = numberFlag(input, 'drop-out', { most: 90, fallback: 0 }) / 100;
    const target = numberFlag(input, 'target', { least: 1, most: 100, fallback: 0 }) / 100;
    const seed = numberFlag(input, 'seed', { fallback: 1 });
    const compute = textFlag(input, 'compute') === undefined ? 'measured' : positive(input, 'compute', 1);
    const [protocols, delay] = [protocolsOf(input), delayOf(input)];
    const own = await loadOwnModel(file);
    const { model } = own;
    const training = {
      epochs: numberFlag(input, 'epochs', { least: 1, fallback: own.training?.epochs ?? 1 }),
      batchSize: numberFlag(input, 'batch', { least: 1, fallback: own.training?.batchSize ?? 20 }),
      learningRate: positive(input, 'rate', own.training?.learningRate ?? 0.1),
    };
    terminal.line(
      `${model.name}, ${model.dimension} parameters: ${devices} devices, ${concurrency} at a time, K = ${bufferSize}, ${versions} versions`,
    );
    const { trainerFor } = await import('@basa/client/node');
    const trainer = (await own.trainer?.()) ?? (await trainerFor(model));
    const shares: Samples[] = [];
    for (let device = 0; device < devices; device++) {
      const share = await own.data({ device, devices });
      if (share.indices.length === 0) throw new CommandError(`${file}: device ${device} of ${devices} has no examples`);
      shares.push(share);
    }
    const test = own.test === undefined ? (shares[0] as Samples) : allSamples(await own.test());
    if (own.test === undefined)
      terminal.line(`${file} exports no \`test\`: versions are evaluated on the examples of device 0`);
    const { figureSvg, simulateOwn } = await import('@basa/experiments');
    const runs = await simulateOwn({
      ...{
        trainer,
        training,
        shares,
        test,
        protocols,
        concurrency,
        bufferSize,
        delay,
        dropouts,
        compute,
        versions,
        seed,
      },
      target: target > 0 ? target : Number.POSITIVE_INFINITY,
      date: new Date().toISOString().slice(0, 10),
      signal,
      onMeasure: (what) => terminal.status(`measuring ${what}`),
      onVersion: ({ protocol, version, accuracy, seconds }) =>
        terminal.status(
          `${protocol} ${bar(version / versions)} version ${version} of ${versions}, ${percent(accuracy)} after ${seconds.toFixed(0)} virtual seconds`,
        ),
    }).catch((error: Error) => {
      throw error instanceof RangeError ? new CommandError(error.message) : error;
    });
    terminal.clearStatus();
    const folder = textFlag(input, 'out') ?? 'basa-simulation';
    await mkdir(folder, { recursive: true });
    const last = runs.at(-1) as OwnRun;
    await writeFile(
      join(folder, 'curve.csv'),
      csvOf(runs.flatMap(({ curve }) => curve.map((point) => ({ ...point })))),
    );
    await writeFile(join(folder, 'accuracy.svg'), figureSvg(figureOf(model.name, runs)));
    await writeFile(join(folder, 'model.safetensors'), encodeSafetensors(model, last.parameters));
    terminal.line(`\n${summaryOf(runs)}`);
    const course = last.curve.map(({ accuracy }) => accuracy);
    terminal.line(
      `\naccuracy by version, ${last.protocol}:\n${plot(course, { mark: target || (course.at(-1) ?? 0), label: percent })}`,
    );
    terminal.line(`\n${folder} has curve.csv, accuracy.svg and model.safetensors (${last.protocol})`);
    return { json: jsonOf(runs, input, folder) };
  },
};

function summaryOf(runs: readonly OwnRun[]): string {
  const rows = runs.map(({ protocol, curve, trips, droppedOut, meanAge, partySums }) => {
    const last = curve.at(-1);
    return [
      protocol,
      String(curve.length),
      percent(last?.accuracy ?? Number.NaN),
      (last?.loss ?? Number.NaN).toFixed(4),
      `${(last?.seconds ?? 0).toFixed(1)} s`,
      meanAge.toFixed(2),
      `${droppedOut} of ${trips}`,
      String(partySums),
    ];
  });
  const head = [
    'protocol',
    'versions',
    'accuracy',
    'loss',
    'virtual time',
    'mean age',
    'dropped out',
    'sums by its parties',
  ];
  return table([head, ...rows]);
}

/** So many points of a line can be told apart. */
const MOST_POINTS = 40;

function figureOf(name: string, runs: readonly OwnRun[]): Parameters<typeof import('@basa/experiments').figureSvg>[0] {
  const series = runs.map(({ protocol, curve }) => {
    const every = Math.ceil(curve.length / MOST_POINTS);
    const shown = curve.filter((_, n) => n % every === 0 || n === curve.length - 1);
    return { name: protocol, points: shown.map(({ seconds, accuracy }) => [seconds, 100 * accuracy] as const) };
  });
  return { name: 'accuracy', title: name, x: 'virtual seconds', y: 'accuracy, %', series };
}

function jsonOf(runs: readonly OwnRun[], input: CommandInput, folder: string): object {
  return {
    file: input.positionals[0],
    folder,
    runs: runs.map(({ parameters: _, curve, ...run }) => ({ ...run, versions: curve.length, last: curve.at(-1) })),
  };
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
