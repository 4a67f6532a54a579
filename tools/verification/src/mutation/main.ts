/** `npm run prove -- mutation [--only TEXT] [--json]`: changes the core in small wrong ways, and counts what the tests notice. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '@basa/testkit/root.ts';
import { isEquivalent } from './equivalent.ts';
import type { Mutant } from './mutants.ts';
import { mutantsOf } from './mutants.ts';
import type { MutatedSource } from './run.ts';
import { runMutants } from './run.ts';

const HELP = `npm run prove -- mutation [--only TEXT] [--fresh] [--results FILE] [--json]

Makes one wrong change at a time (a condition, a call, a record that is not written) in the sources of the protocol's
authority, server and user, runs the scenarios in which it makes a difference up to the first that fails, and reports the share of changes
that some test notices. Results are saved as they come: a run that was interrupted goes on, and after new tests only
those that survived are judged again.

  --only TEXT      just the files whose path holds TEXT: --only authority/close
  --fresh          forget the saved results
  --results FILE   where they are saved (node_modules/.cache/mutation.json)
  --json           the last line is one JSON object`;

const CORE = 'packages/protocol/src';
/** Codecs have no rule of these folders, real sealing takes too long, and paper mode has cores of its own. */
const OTHER_TESTS = ['codec', 'real-sealing', 'paper'];

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    fresh: { type: 'boolean', default: false },
    results: { type: 'string', default: join(ROOT, 'node_modules/.cache/mutation.json') },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

/** Where no test gives it a chance, a mutant makes no difference to any value. */
type Fate = 'noticed' | 'survived' | 'makes no difference';
/** Fates by what the change is, and by the tests that were asked. */
type Saved = Record<string, { readonly fate: Fate; readonly tests: string }>;

function listed(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .map((name) => `${folder}/${name}`);
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

function digest(...texts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text);
  return hash.digest('hex').slice(0, 16);
}

interface FileResult {
  readonly file: string;
  readonly mutants: number;
  readonly noticed: number;
  readonly equivalent: number;
  readonly survived: readonly (Mutant & { readonly fate: Fate })[];
}

/** All mutants of the files, numbered through. */
function mutatedSources(files: readonly string[]): readonly MutatedSource[] {
  let first = 0;
  return files.map((file) => {
    const source = { file, mutants: mutantsOf(read(file)), first };
    first += source.mutants.length;
    return source;
  });
}

async function judgeFiles(
  files: readonly string[],
  tests: readonly string[],
  saved: Saved,
): Promise<readonly FileResult[]> {
  const sources = mutatedSources(files);
  const asked = digest(...tests.map(read));
  const all = sources.flatMap(({ file, mutants }) => {
    const text = digest(read(file));
    return mutants.map((mutant) => {
      const name = digest(file, text, `${mutant.start} ${mutant.end} ${mutant.after}`);
      return { ...mutant, file, name };
    });
  });
  const isKnown = (name: string): boolean =>
    saved[name] !== undefined && (saved[name].fate === 'noticed' || saved[name].tests === asked);
  const chosen = all.flatMap(({ name }, number) => (isKnown(name) ? [] : [number]));
  let done = 0;
  await runMutants({
    sources,
    tests,
    chosen,
    onCoverage: (n, of) => progress(`test ${n} of ${of} without any change`),
    onJudged: ({ mutant, noticedBy, asked: tried }) => {
      const { file, line, name } = all[mutant] as (typeof all)[number];
      const fate = noticedBy !== null ? 'noticed' : tried > 0 ? 'survived' : 'makes no difference';
      saved[name] = { fate, tests: asked };
      save(saved);
      progress(`${++done} of ${chosen.length}: ${file}, line ${line} ${fate}`);
    },
  });
  return sources.map(({ file }) => {
    const mine = all.filter((mutant) => mutant.file === file);
    const living = mine
      .map((mutant) => ({ ...mutant, fate: saved[mutant.name]?.fate ?? 'makes no difference' }))
      .filter(({ fate }) => fate !== 'noticed');
    const survived = living.filter((mutant) => !isEquivalent(file, mutant));
    const equivalent = living.length - survived.length;
    return { file, mutants: mine.length, noticed: mine.length - living.length, equivalent, survived };
  });
}

function progress(text: string): void {
  process.stderr.write(process.stderr.isTTY ? `  ${text}\u001b[K\r` : `  ${text}\n`);
}

function save(saved: Saved): void {
  mkdirSync(dirname(values.results), { recursive: true });
  writeFileSync(values.results, JSON.stringify(saved));
}

function tell({ file, mutants, noticed, equivalent, survived }: FileResult): void {
  const apart = equivalent === 0 ? '' : `, ${equivalent} equivalent`;
  console.log(`${file}: ${noticed} of ${mutants} noticed${apart}`);
  for (const { line, before, after, fate } of survived)
    console.log(`  line ${line} ${fate}: ${oneLine(before)}  =>  ${oneLine(after)}`);
}

function oneLine(text: string): string {
  const short = text.replaceAll(/\s+/g, ' ');
  return short.length > 100 ? `${short.slice(0, 97)}...` : short;
}

const files = ['authority', 'server', 'user'].flatMap((name) => listed(`${CORE}/${name}`));
const chosenFiles = files.filter((file) => file.includes(values.only));
if (values.help) {
  console.log(HELP);
} else if (chosenFiles.length === 0) {
  console.error(`no source of authority, server or user has "${values.only}" in its path`);
  process.exitCode = 2;
} else {
  const isAsked = (test: string): boolean => !OTHER_TESTS.some((name) => test.includes(`/${name}`));
  const tests = [
    ...listed('packages/protocol/test').filter(isAsked),
    ...['cheats', 'reproductions'].map((name) => `tools/verification/test/${name}.test.ts`),
  ];
  const saved: Saved =
    !values.fresh && existsSync(values.results) ? JSON.parse(readFileSync(values.results, 'utf8')) : {};
  const results = await judgeFiles(chosenFiles, tests, saved);
  for (const result of results) tell(result);
  const total = (part: 'mutants' | 'noticed' | 'equivalent') => results.reduce((sum, result) => sum + result[part], 0);
  const [mutants, noticed, equivalent] = [total('mutants'), total('noticed'), total('equivalent')];
  const score = (100 * noticed) / (mutants - equivalent);
  console.log(`\n${noticed} of ${mutants} mutants noticed, ${equivalent} are equivalent: score ${score.toFixed(1)} %`);
  if (values.json) console.log(JSON.stringify({ mutation: { mutants, noticed, equivalent, score, files: results } }));
}
