/** `npm run lab -- experiment`: makes the tables and figures of the paper, and our own, in virtual time with measured costs. */
import { availableParallelism } from 'node:os';
import {
  type Command,
  CommandError,
  type CommandInput,
  choice,
  command,
  parsed,
  positive,
  text,
  whole,
  yes,
} from '@basa/cli/internal/shell/command.ts';
import { bar, table } from '@basa/cli/internal/shell/terminal.ts';
import type { Damping } from '@basa/learning';
import type { Changes, Outcome, Profile, Study } from '../experiments/index.ts';
import { ALL_RACERS } from '../experiments/studies/racers.ts';

/** The result folders of this repository, relative to its root. If both have a study, the first one counts. */
const PUBLISHED = ['docs/results/paper-networks', 'docs/results/experiments'];

const PROFILES: readonly Profile[] = ['smoke', 'small', 'full'];

const DATASETS = ['MNIST', 'FEMNIST', 'CIFAR-10'];

const FLAGS = {
  profile: choice(PROFILES, {
    help: "smoke takes seconds; small trains on MNIST in minutes to an hour; full trains the paper's networks and needs a GPU",
    default: 'smoke',
  }),
  out: text({
    value: 'folder',
    help: 'folder for CSV, JSON, figures, report.html and finished trainings. An interrupted run continues from there',
    without: 'basa-experiments/<profile>',
  }),
  costs: text({
    value: 'file',
    help: 'use the costs.json (or costs.json.gz) of an earlier run instead of measuring this machine',
  }),
  hasty: yes('measure costs in seconds instead of minutes: good enough for a quick look, not for a published table'),
  noisy: yes('keep costs whose samples spread by more than 20 %, and mark them in the report'),
  datasets: parsed<readonly string[]>(
    { value: 'names', help: `only these datasets, separated by commas: ${DATASETS.join(', ')}` },
    DATASETS.join(', '),
    (given) => (given.split(',').every((name) => DATASETS.includes(name)) ? given.split(',') : undefined),
  ),
  lines: parsed<readonly string[]>(
    { value: 'names', help: `only these lines, separated by commas without spaces: ${ALL_RACERS.join('; ')}` },
    ALL_RACERS.join('; '),
    (given) => {
      const names = given.split(/,(?! )/); // a comma and a space are inside a name
      return names.every((name) => ALL_RACERS.some((line) => line === name)) ? names : undefined;
    },
  ),
  buffer: whole({ help: "K, the number of updates of a sum, instead of the study's", min: 2 }),
  minimum: whole({ help: 'Kmin of one-shot mode', min: 2, without: '80 % of K' }),
  target: whole({ value: 'percent', help: "accuracy to reach, instead of the task's", min: 1, max: 100 }),
  'drop-out': whole({ value: 'percent', help: 'share of trips whose user leaves before it uploads', max: 90 }),
  leaf: text({
    value: 'folder',
    help: "use LEAF's FEMNIST (its JSON files) instead of synthetic data",
  }),
  seeds: whole({ help: 'run only the first n seeds; a later run adds the others', min: 1 }),
  'server-rate': positive({ help: "server's learning rate in asynchronous protocols, instead of the task's" }),
  momentum: parsed<number>(
    { value: 'm', help: "the server's momentum", without: '0 in buffers, 0.9 in rounds' },
    'a number from 0 to less than 1',
    (given) => (Number(given) >= 0 && Number(given) < 1 ? Number(given) : undefined),
  ),
  damping: parsed<Damping>(
    {
      value: 'p',
      help: 'multiply the server rate by (1 + mean age)^-p; none: no damping, as in the paper',
      without: '0.5',
    },
    'a number from 0 to 4, or none',
    (given) => (given === 'none' ? given : Number(given) >= 0 && Number(given) <= 4 ? Number(given) : undefined),
  ),
  places: parsed<number | 'unlimited'>(
    {
      value: 'n',
      help: 'number of users that train at the same time, or unlimited',
      without: 'four times K',
    },
    'a whole number from 2 on, or unlimited',
    (given) =>
      given === 'unlimited'
        ? given
        : Number.isSafeInteger(Number(given)) && Number(given) >= 2
          ? Number(given)
          : undefined,
  ),
  concurrency: whole({ help: "number of users that want to train at the same time, instead of the study's", min: 2 }),
  beta: parsed<number>(
    { value: 'seconds', help: "mean of the exponential delay, instead of the study's value" },
    'seconds from 0 on',
    (given) => (Number(given) >= 0 && Number(given) < Number.POSITIVE_INFINITY ? Number(given) : undefined),
  ),
  train: yes('choose rates and train, but write no report; use --finished for that later'),
  orders: text({
    value: 'folder',
    help: 'write the required trainings to this folder as files for lab/gpu/train.py, and train nothing',
  }),
  finished: yes('report the trainings that earlier runs finished, and train nothing'),
  minutes: positive({ value: 'n', help: 'start no training that would end later than n minutes from now' }),
  workers: whole({ help: 'number of threads that train', min: 1, max: 1024, without: 'one per core' }),
};

export const experiment: Command = command({
  name: 'experiment',
  summary: 'run an experiment of the paper, or one of ours, and write its report',
  takes: {
    '<name>':
      'rates, table1, large-scale, scalability, concurrency, one-shot, slow-tenth, model-check, privacy, several of them separated by commas, or all. The name costs only measures the costs that all of them use',
  },
  flags: FLAGS,
  opening: 'preparing the experiment',
  async run(input) {
    const { flags } = input;
    const { profile } = flags;
    const folder = flags.out ?? `basa-experiments/${profile}`;
    const experiments = await import('../experiments/index.ts');
    const [name = ''] = input.positionals;
    const studies = studiesOf(name, experiments.STUDIES);
    const { terminal } = input;
    const estimate = new Estimate();
    const isHasty = flags.hasty || profile === 'smoke';
    const careful = { ...experiments.CAREFUL, isNoisyKept: flags.noisy };
    const common = {
      profile,
      folder,
      costsFile: flags.costs,
      changes: changesOf(flags),
      sampling: isHasty ? experiments.HASTY : careful,
      date: new Date().toISOString().slice(0, 10),
      onMeasure: (what: string) => terminal.status(`measuring ${what}`),
    };
    try {
      if (name === 'costs') {
        const { machine } = await experiments.measureFor(studies, common);
        terminal.clearStatus();
        terminal.line(`${folder}/costs.json: ${machine.cpu}, ${machine.cores} cores, load ${machine.load}`);
        return { json: { folder, machine } };
      }
      const outcomes = await experiments.runStudies(studies, {
        ...common,
        workers: flags.workers ?? availableParallelism(),
        datasets: flags.datasets,
        seeds: flags.seeds ?? Number.MAX_SAFE_INTEGER,
        isTrainingOnly: flags.train,
        ordersFolder: flags.orders,
        onlyFinished: flags.finished,
        minutes: flags.minutes,
        command: `npm run lab -- experiment ${name} --profile ${profile}`,
        signal: input.signal,
        onProgress: ({ done, all }) => {
          terminal.status(`${bar(done / all)} ${done} of ${all} updates trained, ${estimate.left(done, all)}`);
        },
      });
      terminal.clearStatus();
      if (flags.orders !== undefined) {
        terminal.line(
          `The next trainings are in ${flags.orders}. Train them with the command below, then run this command again, until nothing is left:`,
        );
        terminal.line(`  python3 lab/gpu/train.py ${flags.orders} ${folder}/trained.jsonl`);
        return { json: { folder, orders: flags.orders } };
      }
      if (flags.train) {
        terminal.line(
          `The finished trainings are in ${folder}/trained.jsonl. Run the same command with --finished to report them.`,
        );
        return { json: { folder } };
      }
      for (const outcome of outcomes) print(outcome, experiments.claimLines(outcome), terminal.line);
      terminal.line(
        `\nThe tables and figures are in ${folder}/report.html, and the costs that were used are in costs.json.`,
      );
      const [only] = outcomes;
      return { json: outcomes.length === 1 && only !== undefined ? jsonOf(only) : { outcomes: outcomes.map(jsonOf) } };
    } catch (error) {
      if (error instanceof experiments.NoisyMachineError) throw new CommandError(error.message, 1);
      if (input.signal.aborted) terminal.line(`Interrupted. Run the same command again to continue from ${folder}.`);
      throw error;
    }
  },
});

function studiesOf(name: string, all: readonly Study[]): readonly Study[] {
  if (name === 'all' || name === 'costs') return all;
  const names = all.map((study) => study.name);
  const wanted = name.split(',');
  const wrong = wanted.find((one) => !names.includes(one));
  if (wrong !== undefined)
    throw new CommandError(`"${wrong}" is not an experiment; use one of ${names.join(', ')}, all or costs`);
  return all.filter((study) => wanted.includes(study.name));
}

/** Shows first how many claims hold, then those that do not. */
export const summary: Command = command({
  name: 'summary',
  summary: 'list the claims of the experiments that do not hold or are not decided, and count those that hold',
  flags: { out: text({ value: 'folder', help: 'folder with the results', without: PUBLISHED.join(' and ') }) },
  async run(input) {
    const folders = input.flags.out === undefined ? PUBLISHED : [input.flags.out];
    const { readClaims } = await import('../experiments/index.ts');
    const claims = readClaims(folders);
    if (claims === undefined)
      throw new CommandError(
        `there are no results in ${folders.join(' and ')}; run an experiment first, or give another folder with --out`,
      );
    const rest = claims.filter(({ verdict }) => verdict !== 'holds');
    input.terminal.line(`${claims.length - rest.length} of ${claims.length} claims hold`);
    for (const { study, claim, verdict, source } of rest)
      input.terminal.line(`  ${verdict.padEnd(13)}  ${study}: ${claim} (${source})`);
    return { json: { claims } };
  },
});

function changesOf(flags: CommandInput<typeof FLAGS>['flags']): Changes {
  const { 'server-rate': serverRate, 'drop-out': dropOut, buffer: bufferSize, target, ...rest } = flags;
  const { minimum, momentum, lines, damping, places, concurrency, beta, leaf } = rest;
  return {
    serverRate,
    bufferSize,
    target: target === undefined ? undefined : target / 100,
    dropouts: dropOut === undefined ? undefined : dropOut / 100,
    minimum,
    momentum,
    lines,
    damping,
    places,
    concurrency,
    beta,
    leaf,
  };
}

/** Estimated from the updates of this run. Reports nothing before a twentieth is done. */
class Estimate {
  readonly #began = performance.now();

  left(done: number, all: number): string {
    if (done < all / 20) return 'time left not known yet';
    const seconds = ((performance.now() - this.#began) / 1000) * (all / done - 1);
    return seconds < 90 ? `about ${Math.ceil(seconds)} s left` : `about ${Math.ceil(seconds / 60)} min left`;
  }
}

function jsonOf({ experiment: name, profile, rows, orderings }: Outcome): object {
  return { experiment: name, profile, rows, orderings: orderings.map(({ claim, verdict }) => ({ claim, verdict })) };
}

function print({ title, tables, notes }: Outcome, claims: readonly string[], line: (text?: string) => void): void {
  line(`\n${title}`);
  for (const { title: heading, columns, rows } of tables) line(`\n${heading}\n${table([columns, ...rows])}`);
  line();
  for (const one of claims) line(one);
  line(`\n${notes.map((note) => `- ${note}`).join('\n')}`);
}
