/**
 * `npm run lab -- prove mutation [--only TEXT] [--json]`: changes the decisions of the code in small wrong ways, and
 * counts the changes that the tests notice.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SWITCHES } from '@basa/testkit/programs/switches.ts';
import { ROOT } from '@basa/testkit/root.ts';
import { areas } from './areas.ts';
import { type FileResult, judgeArea, KnownFates } from './judge.ts';

const HELP = `npm run lab -- prove mutation [--area NAME] [--only TEXT] [--most N] [--survivors] [--workers N] [--seconds N] [--seed S] [--fresh] [--results FILE] [--json]

Makes one wrong change (a mutant) at a time in the core, for example to a condition, a sum or a call. It runs the tests that the mutant can
affect until one fails, and reports the share of mutants that some test notices. There are three areas: parties (authority, server and user of
the protocol, with suspicion and admission), messages (their codecs, statements and sealing) and services (the log of one-shot batches,
admission, one-shot uploads and terms in the services and on devices). Results are saved during the run, so an interrupted run continues.
After you change tests, only the mutants that survived are judged again.

  --area NAME      parties, messages or services (default: all)
  --only TEXT      only the files whose path contains TEXT, for example --only authority/close
  --most N         judge at most N of the remaining mutants in each area; 0 only shows the saved results
  --survivors      judge only the mutants that survived, with the current tests
  --workers N      number of processes (default: 1)
  --seconds N      run tests for at most N seconds for each mutant: first tests that noticed a change nearby, then fast tests (default: 1000)
  --seed S         seed for the order of the mutants (default: 1)
  --fresh          discard the saved results
  --results FILE   file for the saved results (default: node_modules/.cache/mutation.json)
  --json           print the result as one JSON object in the last line`;

const { values } = parseArgs({
  options: {
    area: { type: 'string' },
    only: { type: 'string', default: '' },
    most: { type: 'string', default: String(Number.MAX_SAFE_INTEGER) },
    survivors: { type: 'boolean', default: false },
    workers: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    fresh: { type: 'boolean', default: false },
    results: { type: 'string', default: join(ROOT, 'node_modules/.cache/mutation.json') },
    ...SWITCHES,
  },
});

function progress(text: string): void {
  process.stderr.write(process.stderr.isTTY ? `  ${text}\u001b[K\r` : `  ${text}\n`);
}

function tell({ file, mutants, noticed, unjudged, survived }: FileResult): void {
  const left = unjudged === 0 ? '' : `, ${unjudged} not judged`;
  console.log(`${file}: ${noticed} of ${mutants} noticed${left}`);
  for (const { line, before, after, fate } of survived)
    console.log(`  line ${line} ${fate}: ${oneLine(before)}  =>  ${oneLine(after)}`);
}

function oneLine(text: string): string {
  const short = text.replaceAll(/\s+/g, ' ');
  return short.length > 100 ? `${short.slice(0, 97)}...` : short;
}

const [most, seed, workers, seconds] = [values.most, values.seed, values.workers, values.seconds].map(Number) as [
  number,
  number,
  number,
  number,
];
const chosen = areas().filter(
  ({ name, files }) => (values.area ?? name) === name && files.some((file) => file.includes(values.only)),
);
if (values.help) {
  console.log(HELP);
} else if (
  ![most, seed, workers, seconds].every((value) => Number.isSafeInteger(value) && value >= 0) ||
  workers === 0
) {
  console.error('--most, --seed, --workers and --seconds take whole numbers, for example --most 100 --workers 4');
  process.exitCode = 2;
} else if (chosen.length === 0) {
  console.error(`no area has this name, or no file of the area has "${values.only}" in its path; see --help`);
  process.exitCode = 2;
} else {
  const known = new KnownFates(values.results, values.fresh);
  const results: FileResult[] = [];
  for (const area of chosen)
    results.push(
      ...(await judgeArea({
        area,
        only: values.only,
        seed,
        most,
        isSurvivorsOnly: values.survivors,
        workers,
        seconds,
        known,
        progress,
      })),
    );
  for (const result of results) tell(result);
  const total = (part: 'mutants' | 'noticed' | 'unjudged') => results.reduce((sum, result) => sum + result[part], 0);
  const [mutants, noticed, unjudged] = [total('mutants'), total('noticed'), total('unjudged')];
  const score = (100 * noticed) / (mutants - unjudged);
  console.log(
    `\n${noticed} of ${mutants} mutants noticed, ${mutants - unjudged - noticed} survived, ${unjudged} not judged: score ${score.toFixed(1)} %, seed ${seed}`,
  );
  if (values.json)
    console.log(JSON.stringify({ mutation: { seed, mutants, noticed, unjudged, score, files: results } }));
}
