/** `basa simulate`: a user's own model and data with virtual devices, under any protocol. */

import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type * as Learning from '@basa/learning';
import type { Model, OwnModel, Samples, Trainer } from '@basa/learning';
import type { OwnRun, SimulatedVersion } from '@basa/simulator/virtual-time';
import { checkExamples, loadOwnModel, shareOf, trainerOf } from '../flags/models.ts';
import { fieldDefinitions } from '../flags/task.ts';
import { type Command, CommandError, command } from '../shell/command.ts';
import { bar, counted, percent, plot, type Terminal, table } from '../shell/terminal.ts';
import { localTrainingOf, SIMULATION_FLAGS, simulationOf } from './simulation-flags.ts';

export const simulate: Command = command({
  name: 'simulate',
  summary: 'train your own model on your own data with virtual devices, under any protocol',
  takes: { '<file>': 'module that exports your model and data, such as the model.ts of `basa new`, or a model.py' },
  flags: SIMULATION_FLAGS,
  opening: 'reading the model',
  async run(input) {
    const { terminal, signal } = input;
    const [file] = input.positionals;
    const fields = await fieldDefinitions(input.flags);
    if (fields !== undefined) {
      const { simulateFields } = await import('./statistics-simulation.ts');
      return simulateFields(input, fields);
    }
    if (file === undefined)
      throw new CommandError('name a model file, for example `basa simulate model.ts`; `basa new` creates one');
    const settings = simulationOf(input.flags);
    const { devices, concurrency, bufferSize, versions, target } = settings;
    const own = await loadOwnModel(file);
    const { model } = own;
    terminal.line(
      `${model.name}, ${model.dimension} parameters: ${devices} devices, ${concurrency} at a time, K = ${bufferSize}, ${versions} versions`,
    );
    const trainer = await trainerOf(file, own, { equalBits: true });
    const shares = await sharesOf(file, own, devices, trainer);
    const { allSamples, scoreText } = await import('@basa/learning');
    const test = own.test === undefined ? (shares[0] as Samples) : allSamples(await own.test());
    await checkExamples(`${file}: test`, test, trainer);
    if (own.test === undefined)
      terminal.line(`${file} exports no \`test\`: versions are evaluated on the examples of device 0`);
    const { meanInterval, simulateOwn } = await import('@basa/simulator/virtual-time');
    const all = await simulateOwn({
      ...settings,
      trainer,
      training: localTrainingOf(input.flags, own),
      shares,
      test,
      target: target ?? Number.POSITIVE_INFINITY,
      date: new Date().toISOString().slice(0, 10),
      signal,
      onMeasure: (what) => terminal.status(`measuring ${what}`),
      onVersion: tellProgress(terminal, versions, scoreText),
    }).catch((error: Error) => {
      throw error instanceof RangeError ? new CommandError(error.message) : error;
    });
    terminal.clearStatus();
    const runs = all.filter(({ seed }) => seed === settings.seed);
    const { out: folder } = input.flags;
    await writeSimulation(folder, model, runs);
    terminal.line(`\n${simulationTable(runs, scoreText)}\n\n${simulationPlot(runs, target)}`);
    if (all.length > runs.length) terminal.line(`\n${seedsTable(all, meanInterval)}`);
    terminal.line(
      `\n${folder} has curve.csv, ${scoreNameOf(runs)}.svg and model.safetensors (${runs.at(-1)?.protocol})`,
    );
    const norms = firstNorms(trainer, localTrainingOf(input.flags, own), { shares, seed: settings.seed });
    if (norms !== undefined) terminal.line(await keepClip(file, own, norms));
    const told = all.map(({ parameters: _, curve, ...run }) => ({
      ...run,
      versions: curve.length,
      last: curve.slice(-1).map(flatVersion)[0],
    }));
    return { json: { file, folder, medianNorm: norms?.median, runs: told } };
  },
});

async function sharesOf(
  file: string,
  own: OwnModel,
  devices: number,
  trainer: Learning.Trainer,
): Promise<readonly Samples[]> {
  const shares: Samples[] = [];
  for (let device = 0; device < devices; device++) shares.push(await shareOf(file, own, { device, devices }, trainer));
  return shares;
}

/** A bar on a terminal; otherwise a line for every tenth of the run. */
function tellProgress(
  terminal: Terminal,
  versions: number,
  scoreText: typeof Learning.scoreText,
): (made: SimulatedVersion) => void {
  const every = Math.ceil(versions / 10);
  return ({ protocol, version, score, seconds }) => {
    const words = `version ${version} of ${versions}, ${score.name} ${scoreText(score)} after ${seconds.toFixed(0)} virtual seconds`;
    if (terminal.isLive) terminal.status(`${protocol} ${bar(version / versions)} ${words}`);
    else if (version % every === 0) terminal.line(`${protocol}: ${words}`);
  };
}

/** More points of a line than this cannot be distinguished. */
const MAX_POINTS = 40;

async function writeSimulation(folder: string, model: Model, runs: readonly OwnRun[]): Promise<void> {
  const { figureSvg } = await import('@basa/simulator/virtual-time');
  const { encodeSafetensors } = await import('@basa/learning');
  const { csvOf } = await import('@basa/learning/files');
  const series = runs.map(({ protocol, curve }) => {
    const every = Math.ceil(curve.length / MAX_POINTS);
    const shown = curve.filter((_, n) => n % every === 0 || n === curve.length - 1);
    return { name: protocol, points: shown.map(({ seconds, score }) => [seconds, shownOf(score)] as const) };
  });
  const name = scoreNameOf(runs);
  const y = name === ACCURACY ? `${name}, %` : name;
  const figure = { name, title: model.name, x: 'virtual seconds', y, series };
  const rows = runs.flatMap(({ curve }) => curve.map(flatVersion));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'curve.csv'), csvOf(rows));
  await writeFile(join(folder, `${name}.svg`), figureSvg(figure));
  const last = runs.at(-1);
  if (last !== undefined) await writeFile(join(folder, 'model.safetensors'), encodeSafetensors(model, last.parameters));
}

function simulationTable(runs: readonly OwnRun[], scoreText: typeof Learning.scoreText): string {
  const rows = runs.map(({ protocol, curve, trips, droppedOut, meanAge, partySums, versionsInASum }) => {
    const last = curve.at(-1);
    return [
      protocol,
      String(curve.length),
      last === undefined ? '-' : scoreText(last.score),
      last?.loss.toFixed(4) ?? '-',
      `${(last?.seconds ?? 0).toFixed(1)} s`,
      meanAge.toFixed(2),
      versionsInASum,
      `${droppedOut} of ${trips}`,
      String(partySums),
    ];
  });
  const measures = [
    'versions',
    scoreNameOf(runs),
    'loss',
    'virtual time',
    'mean age',
    'versions in a sum',
    'dropped out',
    'sums by parties',
  ];
  return table([['protocol', ...measures], ...rows]);
}

/** Means over seeds with their 95 % intervals: the last score, and the virtual time until then. */
function seedsTable(
  all: readonly OwnRun[],
  meanInterval: (values: readonly number[]) => readonly [number, number],
): string {
  const shown = (values: readonly number[]): string => {
    const [mean, half] = meanInterval(values);
    return `${mean.toPrecision(4)} ± ${half.toPrecision(2)}`;
  };
  const rows = [...new Set(all.map(({ protocol }) => protocol))].map((protocol) => {
    const last = all.filter((run) => run.protocol === protocol).flatMap(({ curve }) => curve.slice(-1));
    return [
      protocol,
      String(last.length),
      shown(last.map(({ score }) => shownOf(score))),
      shown(last.map(({ seconds }) => seconds)),
    ];
  });
  const name = scoreNameOf(all);
  return table([['protocol', 'seeds', name === ACCURACY ? `${name}, %` : name, 'virtual seconds'], ...rows]);
}

/** The plot of the last protocol, with the target as a line. */
function simulationPlot(runs: readonly OwnRun[], target: number | undefined): string {
  const name = scoreNameOf(runs);
  const course = runs.at(-1)?.curve.map(({ score }) => score.value) ?? [];
  const isShare = name === ACCURACY || name === 'r2';
  // A user's own scores may have any range: the plot goes from the smallest to the largest.
  const [low, high] = isShare ? [0, 1] : [Math.min(...course), Math.max(...course)];
  const scaled = (value: number): number => (high > low ? (value - low) / (high - low) : 0);
  const label = (share: number): string => {
    const value = low + share * (high - low);
    return name === ACCURACY ? percent(value) : value.toPrecision(3);
  };
  const mark = scaled(target ?? course.at(-1) ?? low);
  return `${name} by version, ${runs.at(-1)?.protocol}:\n${plot(course.map(scaled), mark, label)}`;
}

const ACCURACY = 'accuracy';

/** All protocols train the same model: their versions have the same score. */
function scoreNameOf(runs: readonly OwnRun[]): string {
  return runs.flatMap(({ curve }) => curve)[0]?.score.name ?? ACCURACY;
}

/** The score as an additional column with the name of the score. */
function flatVersion({ protocol, version, seconds, score, ...rest }: SimulatedVersion) {
  return { protocol, version, seconds, [score.name]: score.value, ...rest };
}

function shownOf({ name, value }: SimulatedVersion['score']): number {
  return name === ACCURACY ? 100 * value : value;
}

/** As many devices as give a steady median. */
const MOST_DEVICES = 50;

type Local = Omit<Parameters<Trainer['train']>[0], 'start' | 'samples' | 'seed'>;

interface FirstNorms {
  readonly median: number;
  readonly devices: number;
}

/** Each device trains once on the first parameters. Undefined if they change nothing. */
function firstNorms(
  trainer: Trainer,
  training: Local,
  { shares, seed }: { readonly shares: readonly Samples[]; readonly seed: number },
): FirstNorms | undefined {
  const start = trainer.init(seed);
  const norms = shares.slice(0, MOST_DEVICES).map((samples) => {
    const { delta } = trainer.train({ ...training, start, samples, seed });
    return Math.sqrt(delta.reduce((squares, value) => squares + value * value, 0));
  });
  const sorted = norms.filter((norm) => norm > 0 && norm < Number.POSITIVE_INFINITY).sort((a, b) => a - b);
  const median = sorted[Math.floor((sorted.length - 1) / 2)];
  return median === undefined ? undefined : { median: Number(median.toPrecision(2)), devices: norms.length };
}

/** Writes C into a file that does not have it, and returns what to tell. */
async function keepClip(file: string, { clip }: Pick<OwnModel, 'clip'>, norms: FirstNorms): Promise<string> {
  const { median, devices } = norms;
  const measured = `the first updates of ${counted(devices, 'device')} have a median norm of ${median}`;
  if (clip === undefined) {
    const why = 'C: updates are clipped to this L2 norm, the median of first updates. Smaller is better than larger.';
    const lines = file.endsWith('.py')
      ? `# ${why}\nclip = ${median}\n`
      : `/** ${why} */\nexport const clip = ${median};\n`;
    await appendFile(file, `\n${lines}`);
    return `${measured}; wrote it into ${file} as \`clip\``;
  }
  const advice =
    clip > median ? `; lower it to ${median} or less, because the noise grows with it` : '; below the median is fine';
  return `${measured}, and ${file} clips to ${clip}${clip === median ? '' : advice}`;
}
