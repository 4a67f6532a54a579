/** `npm run lab -- experiment`: the tables and figures of the paper and ours, in virtual time with measured costs. */
import { availableParallelism } from 'node:os';
import {
  type Command,
  CommandError,
  type CommandInput,
  numberFlag,
  textFlag,
  textFlags,
} from '@basa/cli/internal/command.ts';
import { dampingOf, placesOf, positive } from '@basa/cli/internal/learning-flags.ts';
import { bar, table } from '@basa/cli/internal/terminal.ts';
import type { Changes, Outcome, Profile, Study } from '../experiments/index.ts';

/** The results of this repository, seen from its root. */
const PUBLISHED = 'docs/results/experiments';

const PROFILES: readonly Profile[] = ['smoke', 'small', 'full'];

export const experiment: Command = {
  name: 'experiment',
  summary: 'runs an experiment of the paper, or ours, and writes its report',
  usage: `  <name>               rates, table1, large-scale, scalability, concurrency, admission, versions, dropouts, bandwidth,
                       quantisation, ablation, scale, capacity, model-check, privacy, several with commas, or all;
                       costs: measure what all of them charge, and nothing else
  --profile <name>     smoke: seconds; small: minutes to an hour; full: the paper's grid (smoke)
  --out <folder>       where CSV, JSON, pictures, report.html and finished trainings go
                       (basa-experiments/<profile>); a run that was interrupted goes on from there
  --costs <file>       a costs.json (or costs.json.gz) of an earlier run instead of measuring this machine
  --hasty              measure costs in seconds instead of minutes, for a look: not for a table
  --noisy              keep costs whose samples spread by more than 20 %, marked in the report
  --datasets <names>   only these, with commas: MNIST, FEMNIST, CIFAR-10
  --leaf <folder>      LEAF's FEMNIST (its JSON files) instead of the synthetic stand-in
  --seeds <n>          only the first n seeds; a later run adds the others
  --server-rate <x>    of asynchronous protocols, instead of the task's
  --damping <p>        their rate is multiplied by (1 + mean age)^-p; none for the paper's text (0.5)
  --places <n>         that train at a time, auto as the server, or unlimited (auto)
  --concurrency <n>    users that want to train at a time, instead of the study's
  --beta <seconds>     mean of the exponential delay, instead of the study's
  --train              choose rates and train, report nothing; --finished reports later
  --finished           report what earlier runs finished, train nothing
  --minutes <n>        begin no training that would not end in so many minutes
  --workers <n>        threads that train (one a core)`,
  flags: {
    ...textFlags('profile', 'out', 'costs'),
    hasty: { type: 'boolean' },
    noisy: { type: 'boolean' },
    ...textFlags('datasets', 'leaf', 'seeds', 'server-rate', 'damping', 'places', 'concurrency', 'beta'),
    train: { type: 'boolean' },
    finished: { type: 'boolean' },
    ...textFlags('minutes', 'workers'),
  },
  positionals: 1,
  opening: 'preparing the experiment',
  async run(input) {
    const profile = profileOf(input);
    const folder = textFlag(input, 'out') ?? `basa-experiments/${profile}`;
    const experiments = await import('../experiments/index.ts');
    const [name = ''] = input.positionals;
    const studies = studiesOf(name, experiments.STUDIES);
    const { terminal } = input;
    const estimate = new Estimate();
    const isHasty = input.values['hasty'] === true || profile === 'smoke';
    const careful = { ...experiments.CAREFUL, isNoisyKept: input.values['noisy'] === true };
    const common = {
      profile,
      folder,
      costsFile: textFlag(input, 'costs'),
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
        workers: numberFlag(input, 'workers', { min: 1, max: 1024, fallback: availableParallelism() }),
        datasets: datasetsOf(input),
        seeds: numberFlag(input, 'seeds', { min: 1, fallback: Number.MAX_SAFE_INTEGER }),
        changes: changesOf(input),
        isTrainingOnly: input.values['train'] === true,
        onlyFinished: input.values['finished'] === true,
        minutes: textFlag(input, 'minutes') === undefined ? undefined : positive(input, 'minutes', 1),
        command: `npm run lab -- experiment ${name} --profile ${profile}`,
        signal: input.signal,
        onProgress: ({ done, all }) => {
          terminal.status(`${bar(done / all)} ${done} of ${all} updates trained, ${estimate.left(done, all)}`);
        },
      });
      terminal.clearStatus();
      if (input.values['train'] === true) {
        terminal.line(`${folder}/trained.jsonl has what was trained; the same command with --finished reports it`);
        return { json: { folder } };
      }
      for (const outcome of outcomes) print(outcome, terminal.line);
      terminal.line(`\n${folder}/report.html has the tables and figures; costs.json what was charged`);
      const [only] = outcomes;
      return { json: outcomes.length === 1 && only !== undefined ? jsonOf(only) : { outcomes: outcomes.map(jsonOf) } };
    } catch (error) {
      if (error instanceof experiments.NoisyMachineError) throw new CommandError(error.message, 1);
      if (input.signal.aborted) terminal.line(`interrupted; the same command goes on from ${folder}`);
      throw error;
    }
  },
};

function studiesOf(name: string, all: readonly Study[]): readonly Study[] {
  if (name === 'all' || name === 'costs') return all;
  const names = all.map((study) => study.name);
  const wanted = name.split(',');
  const wrong = wanted.find((one) => !names.includes(one));
  if (wrong !== undefined)
    throw new CommandError(`an experiment is one of ${names.join(', ')}, all or costs, got "${wrong}"`);
  return all.filter((study) => wanted.includes(study.name));
}

/** A reader wants to know first how much holds, and what does not. */
export const summary: Command = {
  name: 'summary',
  summary: 'says what holds and what does not, of the results of experiments',
  usage: '  --out <folder>       where the results are (docs/results/experiments, the published ones)',
  flags: { ...textFlags('out') },
  async run(input) {
    const folder = textFlag(input, 'out') ?? PUBLISHED;
    const { readClaims } = await import('../experiments/index.ts');
    const claims = readClaims(folder);
    if (claims === undefined)
      throw new CommandError(`${folder} has no results; run an experiment into it, or name another folder with --out`);
    const failing = claims.filter(({ holds }) => !holds);
    input.terminal.line(`${claims.length - failing.length} of ${claims.length} claims hold`);
    for (const { study, claim } of failing) input.terminal.line(`  does not hold  ${study}: ${claim}`);
    return { json: { claims } };
  },
};

function changesOf(input: CommandInput): Changes {
  const [places, beta] = [textFlag(input, 'places'), textFlag(input, 'beta')];
  const delay = beta === undefined ? undefined : Number(beta);
  if (delay !== undefined && !(delay >= 0 && delay < Number.POSITIVE_INFINITY))
    throw new CommandError(`--beta takes seconds from 0 on, got "${beta}"`);
  return {
    serverRate: textFlag(input, 'server-rate') === undefined ? undefined : positive(input, 'server-rate', 1),
    damping: dampingOf(textFlag(input, 'damping')),
    places: places === undefined || places === 'unlimited' ? places : placesOf(places),
    concurrency:
      textFlag(input, 'concurrency') === undefined
        ? undefined
        : numberFlag(input, 'concurrency', { min: 2, fallback: 2 }),
    beta: delay,
    leaf: textFlag(input, 'leaf'),
  };
}

function profileOf(input: CommandInput): Profile {
  const name = textFlag(input, 'profile') ?? 'smoke';
  const profile = PROFILES.find((one) => one === name);
  if (profile === undefined) throw new CommandError(`--profile takes ${PROFILES.join(', ')}, got "${name}"`);
  return profile;
}

const DATASETS = ['MNIST', 'FEMNIST', 'CIFAR-10'];

function datasetsOf(input: CommandInput): readonly string[] | undefined {
  const names = textFlag(input, 'datasets')?.split(',');
  const wrong = names?.find((name) => !DATASETS.includes(name));
  if (wrong !== undefined) throw new CommandError(`--datasets takes ${DATASETS.join(', ')}, got "${wrong}"`);
  return names;
}

/** Estimated from the updates of this run. Says nothing before a twentieth is done. */
class Estimate {
  readonly #began = performance.now();

  left(done: number, all: number): string {
    if (done < all / 20) return 'time left not known yet';
    const seconds = ((performance.now() - this.#began) / 1000) * (all / done - 1);
    return seconds < 90 ? `about ${Math.ceil(seconds)} s left` : `about ${Math.ceil(seconds / 60)} min left`;
  }
}

function jsonOf({ experiment: name, profile, rows, orderings }: Outcome): object {
  return { experiment: name, profile, rows, orderings: orderings.map(({ claim, holds }) => ({ claim, holds })) };
}

function print({ title, tables, orderings, notes }: Outcome, line: (text?: string) => void): void {
  line(`\n${title}`);
  for (const { title: heading, columns, rows } of tables) line(`\n${heading}\n${table([columns, ...rows])}`);
  line('\nExpected, written down before the run:');
  for (const { claim, holds, seen } of orderings) {
    line(`  ${holds ? 'holds        ' : 'does not hold'}  ${claim}`);
    for (const { where, left, right, isGivenUp } of seen.filter((one) => !one.holds)) {
      line(
        `                   ${where}: ${isGivenUp ? '> ' : ''}${left.toPrecision(4)} against ${right.toPrecision(4)}`,
      );
    }
  }
  line(`\n${notes.map((note) => `- ${note}`).join('\n')}`);
}
