/** `basa simulate`: a model and data of one's own with virtual devices, under any protocol. */

import type { OwnModel, Samples } from '@basa/learning';
import type { SimulatedVersion } from '@basa/virtual-time';
import { loadOwnModel } from '../flags/own-model.ts';
import { type Command, CommandError, command } from '../shell/command.ts';
import { bar, percent, type Terminal } from '../shell/terminal.ts';
import { localTrainingOf, SIMULATION_FLAGS, simulationOf } from './simulation-flags.ts';
import { nothingNewSentence, simulationPlot, simulationTable, writeSimulation } from './simulation-report.ts';

export const simulate: Command = command({
  name: 'simulate',
  summary: 'trains your own model on your own data with virtual devices, under any protocol',
  takes: { '<file>': 'a module that exports model, data and more: model.ts (`basa new` writes one)' },
  flags: SIMULATION_FLAGS,
  opening: 'reading the model',
  async run(input) {
    const { terminal, signal } = input;
    const [file] = input.positionals;
    if (file === undefined) throw new CommandError('which model? `basa simulate model.ts`; `basa new` writes one');
    const settings = simulationOf(input.flags);
    const { devices, concurrency, bufferSize, versions, target } = settings;
    const own = await loadOwnModel(file);
    const { model } = own;
    terminal.line(
      `${model.name}, ${model.dimension} parameters: ${devices} devices, ${concurrency} at a time, K = ${bufferSize}, ${versions} versions`,
    );
    const { trainerFor } = await import('@basa/client/node');
    const shares = await sharesOf(file, own, devices);
    const { allSamples } = await import('@basa/learning');
    const test = own.test === undefined ? (shares[0] as Samples) : allSamples(await own.test());
    if (own.test === undefined)
      terminal.line(`${file} exports no \`test\`: versions are evaluated on the examples of device 0`);
    const { simulateOwn } = await import('@basa/virtual-time');
    const runs = await simulateOwn({
      ...settings,
      trainer: (await own.trainer?.()) ?? (await trainerFor(model, { equalBits: true })),
      training: localTrainingOf(input.flags, own),
      shares,
      test,
      target: target ?? Number.POSITIVE_INFINITY,
      date: new Date().toISOString().slice(0, 10),
      signal,
      onMeasure: (what) => terminal.status(`measuring ${what}`),
      onVersion: tellProgress(terminal, versions),
    }).catch((error: Error) => {
      throw error instanceof RangeError ? new CommandError(error.message) : error;
    });
    terminal.clearStatus();
    const { out: folder } = input.flags;
    await writeSimulation(folder, model, runs);
    for (const run of runs) if (run.nothingNew > 0) terminal.line(nothingNewSentence(run));
    terminal.line(`\n${simulationTable(runs)}\n\n${simulationPlot(runs, target)}`);
    terminal.line(`\n${folder} has curve.csv, accuracy.svg and model.safetensors (${runs.at(-1)?.protocol})`);
    const told = runs.map(({ parameters: _, curve, ...run }) => ({
      ...run,
      versions: curve.length,
      last: curve.at(-1),
    }));
    return { json: { file, folder, runs: told } };
  },
});

async function sharesOf(file: string, own: OwnModel, devices: number): Promise<readonly Samples[]> {
  const shares: Samples[] = [];
  for (let device = 0; device < devices; device++) {
    const share = await own.data({ device, devices });
    if (share.indices.length === 0) throw new CommandError(`${file}: device ${device} of ${devices} has no examples`);
    shares.push(share);
  }
  return shares;
}

/** A bar where somebody watches; elsewhere a line for every tenth of the way. */
function tellProgress(terminal: Terminal, versions: number): (made: SimulatedVersion) => void {
  const every = Math.ceil(versions / 10);
  return ({ protocol, version, accuracy, seconds }) => {
    const words = `version ${version} of ${versions}, ${percent(accuracy)} after ${seconds.toFixed(0)} virtual seconds`;
    if (terminal.isLive) terminal.status(`${protocol} ${bar(version / versions)} ${words}`);
    else if (version % every === 0) terminal.line(`${protocol}: ${words}`);
  };
}
