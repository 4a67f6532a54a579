/** `basa simulate`: a user's own model and data with virtual devices, under any protocol. */

import type * as Learning from '@basa/learning';
import type { OwnModel, Samples } from '@basa/learning';
import type { SimulatedVersion } from '@basa/virtual-time';
import { checkExamples, shareOf, trainerOf } from '../flags/own-data.ts';
import { loadOwnModel } from '../flags/own-model.ts';
import { statisticsFields } from '../flags/statistics.ts';
import { type Command, CommandError, command } from '../shell/command.ts';
import { bar, type Terminal } from '../shell/terminal.ts';
import { firstNorms, keepClip } from './clip.ts';
import { localTrainingOf, SIMULATION_FLAGS, simulationOf } from './simulation-flags.ts';
import { flatVersion, scoreNameOf, simulationPlot, simulationTable, writeSimulation } from './simulation-report.ts';
import { simulateFields } from './statistics-simulation.ts';

export const simulate: Command = command({
  name: 'simulate',
  summary: 'train your own model on your own data with virtual devices, under any protocol',
  takes: { '<file>': 'module that exports your model and data, such as the model.ts of `basa new`' },
  flags: SIMULATION_FLAGS,
  opening: 'reading the model',
  async run(input) {
    const { terminal, signal } = input;
    const [file] = input.positionals;
    const fields = await statisticsFields(input.flags);
    if (fields !== undefined) return simulateFields(input, fields);
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
    const { simulateOwn } = await import('@basa/virtual-time');
    const runs = await simulateOwn({
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
    const { out: folder } = input.flags;
    await writeSimulation(folder, model, runs);
    terminal.line(`\n${simulationTable(runs, scoreText)}\n\n${simulationPlot(runs, target)}`);
    terminal.line(
      `\n${folder} has curve.csv, ${scoreNameOf(runs)}.svg and model.safetensors (${runs.at(-1)?.protocol})`,
    );
    const norms = firstNorms(trainer, localTrainingOf(input.flags, own), { shares, seed: settings.seed });
    if (norms !== undefined) terminal.line(await keepClip(file, own, norms));
    const told = runs.map(({ parameters: _, curve, ...run }) => ({
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
