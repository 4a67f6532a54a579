/** `basa simulate`: a model and data of one's own with virtual devices, under any protocol. */

import type { OwnModel, Samples } from '@basa/learning';
import type { SimulatedVersion } from '@basa/virtual-time';
import { type Command, CommandError, textFlag, textFlags } from '../command.ts';
import { loadOwnModel } from '../own-model.ts';
import { DELAYS_USAGE, localTrainingOf, SIMULATED_PROTOCOLS, simulationOf } from '../simulation-flags.ts';
import { simulationPlot, simulationTable, writeSimulation } from '../simulation-report.ts';
import { bar, percent, type Terminal } from '../terminal.ts';

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
    ...textFlags(
      'devices',
      'at-a-time',
      'buffer',
      'protocol',
      'delay',
      'drop-out',
      'versions',
      'target',
      'epochs',
      'batch',
      'rate',
      'compute',
      'seed',
      'out',
    ),
  },
  positionals: 1,
  opening: 'reading the model',
  async run(input) {
    const { terminal, signal } = input;
    const [file] = input.positionals;
    if (file === undefined) throw new CommandError('which model? `basa simulate model.ts`; `basa new` writes one');
    const settings = simulationOf(input);
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
      training: localTrainingOf(input, own),
      shares,
      test,
      target: target > 0 ? target : Number.POSITIVE_INFINITY,
      date: new Date().toISOString().slice(0, 10),
      signal,
      onMeasure: (what) => terminal.status(`measuring ${what}`),
      onVersion: tellProgress(terminal, versions),
    }).catch((error: Error) => {
      throw error instanceof RangeError ? new CommandError(error.message) : error;
    });
    terminal.clearStatus();
    const folder = textFlag(input, 'out') ?? 'basa-simulation';
    await writeSimulation(folder, model, runs);
    terminal.line(`\n${simulationTable(runs)}\n\n${simulationPlot(runs, target)}`);
    terminal.line(`\n${folder} has curve.csv, accuracy.svg and model.safetensors (${runs.at(-1)?.protocol})`);
    const told = runs.map(({ parameters: _, curve, ...run }) => ({
      ...run,
      versions: curve.length,
      last: curve.at(-1),
    }));
    return { json: { file, folder, runs: told } };
  },
};

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
