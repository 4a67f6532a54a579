/** `basa experiment`: the tables and figures of the paper and ours, in virtual time with measured costs. */
import { availableParallelism } from 'node:os';
import type { Outcome, Profile } from '@basa/experiments';
import type { Command, CommandInput } from '../command.ts';
import { CommandError, numberFlag, textFlag } from '../command.ts';
import { bar, table } from '../terminal.ts';

const PROFILES: readonly Profile[] = ['smoke', 'small', 'full'];

export const experiment: Command = {
  name: 'experiment',
  summary: 'runs an experiment of the paper, or ours, and writes its report',
  usage: `  <name>               table1, large-scale, scalability, concurrency, dropouts, bandwidth,
                       quantisation, ablation, scale, capacity, model-check,
                       privacy, or all
  --profile <name>     smoke: seconds; small: minutes to an hour; full: the paper's grid (smoke)
  --out <folder>       where CSV, JSON, pictures, report.html and finished trainings go
                       (basa-experiments/<profile>); a run that was interrupted goes on from there
  --costs <file>       a costs.json (or costs.json.gz) of an earlier run instead of measuring this machine
  --hasty              measure costs in seconds instead of minutes, for a look: not for a table
  --datasets <names>   only these, with commas: MNIST, FEMNIST, CIFAR-10
  --seeds <n>          only the first n seeds; a later run adds the others
  --finished           report what earlier runs finished, train nothing
  --workers <n>        threads that train (one a core)`,
  flags: {
    profile: { type: 'string' },
    out: { type: 'string' },
    costs: { type: 'string' },
    hasty: { type: 'boolean' },
    datasets: { type: 'string' },
    seeds: { type: 'string' },
    finished: { type: 'boolean' },
    workers: { type: 'string' },
  },
  positionals: 1,
  opening: 'preparing the experiment',
  async run(input) {
    const profile = profileOf(input);
    const { runStudies, STUDIES, CAREFUL, HASTY, NoisyMachineError } = await import('@basa/experiments');
    const [name] = input.positionals;
    const names = STUDIES.map((study) => study.name);
    const studies = name === 'all' ? STUDIES : STUDIES.filter((study) => study.name === name);
    if (studies.length === 0)
      throw new CommandError(`an experiment is one of ${names.join(', ')} or all, got "${name ?? ''}"`);
    const folder = textFlag(input, 'out') ?? `basa-experiments/${profile}`;
    const { terminal } = input;
    const estimate = new Estimate();
    const isHasty = input.values['hasty'] === true || profile === 'smoke';
    try {
      const outcomes = await runStudies(studies, {
        profile,
        folder,
        workers: numberFlag(input, 'workers', { least: 1, most: 1024, fallback: availableParallelism() }),
        costsFile: textFlag(input, 'costs'),
        datasets: datasetsOf(input),
        seeds: numberFlag(input, 'seeds', { least: 1, fallback: Number.MAX_SAFE_INTEGER }),
        onlyFinished: input.values['finished'] === true,
        sampling: isHasty ? HASTY : CAREFUL,
        date: new Date().toISOString().slice(0, 10),
        signal: input.signal,
        onMeasure: (what) => terminal.status(`measuring ${what}`),
        onProgress: (study, { done, all }) => {
          terminal.status(
            `${study} ${bar(done / all)} ${done} of ${all} updates trained, ${estimate.left(study, done, all)}`,
          );
        },
      });
      terminal.clearStatus();
      for (const outcome of outcomes) print(outcome, terminal.line);
      terminal.line(`\n${folder}/report.html has the tables and figures; costs.json what was charged`);
      const [only] = outcomes;
      return { json: outcomes.length === 1 && only !== undefined ? jsonOf(only) : { outcomes: outcomes.map(jsonOf) } };
    } catch (error) {
      if (error instanceof NoisyMachineError) throw new CommandError(error.message, 1);
      if (input.signal.aborted) terminal.line(`interrupted; the same command goes on from ${folder}`);
      throw error;
    }
  },
};

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
  #study = '';
  #began = 0;

  left(study: string, done: number, all: number): string {
    if (study !== this.#study) [this.#study, this.#began] = [study, performance.now()];
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
