/** `npm run mutation -- [--only TEXT] [--json]`: changes the core in small wrong ways, and counts what the tests notice. */
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { TestRunResult, Vitest } from 'vitest/node';
import { createVitest } from 'vitest/node';
import type { Mutant } from './mutants.ts';
import { mutantsOf } from './mutants.ts';

const HELP = `npm run mutation -- [--only TEXT] [--json]

Makes one wrong change at a time (a condition, a call, a record that is not written) in the sources of the protocol's
authority, server and user, runs the scenarios, and reports the share of changes that some test notices.
With --only, just the files whose path holds TEXT: --only authority/close`;

const root = fileURLToPath(new URL('..', import.meta.url));
const FOLDERS = ['authority', 'server', 'user'].map((name) => join(root, 'packages/protocol/src', name));

/** What mutants are held to: first the scenarios that are quick and say most, then, for those that survive, the rest. */
const QUICK = ['authority-checks', 'user-checks'];
const REST = ['crash', 'sealed'];
const TESTS = [...QUICK, ...REST].map((name) => `test/scenarios/${name}.test.ts`);

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

let current: Mutant | undefined;

/** One Vitest for all mutants: it serves the changed source in place of the one on disk. */
function openVitest(): Promise<Vitest> {
  const options = { root, watch: false, bail: 1, reporters: [{}], include: TESTS, testTimeout: 20_000, isolate: false };
  const serveMutant = {
    name: 'mutant',
    enforce: 'pre' as const,
    load: (id: string) => (current !== undefined && id.split('?')[0] === current.file ? current.source : undefined),
  };
  return createVitest('test', options, { plugins: [serveMutant] });
}

function hasPassed({ testModules, unhandledErrors }: TestRunResult): boolean {
  return unhandledErrors.length === 0 && testModules.every((module) => module.ok());
}

async function run(files: readonly string[]) {
  const stages = [QUICK.slice(0, 1), QUICK.slice(1), REST];
  const vitest = await openVitest();
  const specifications = await vitest.globTestSpecifications();
  const passes = async (mutant: Mutant | undefined, file: string): Promise<boolean> => {
    current = mutant;
    let isGood = true;
    for (const names of stages) {
      const chosen = specifications.filter(({ moduleId }) => names.some((name) => moduleId.includes(name)));
      vitest.invalidateFile(file);
      isGood &&= hasPassed(await vitest.runTestSpecifications(chosen));
      if (!isGood) break;
    }
    vitest.invalidateFile(file);
    process.exitCode = 0;
    return isGood;
  };
  if (!(await passes(undefined, files[0] as string))) throw new Error('the tests fail without any change');
  const survivors: Mutant[] = [];
  let done = 0;
  for (const file of files) {
    const mutants = mutantsOf(file);
    const before = survivors.length;
    for (const [n, mutant] of mutants.entries()) {
      const survives = await passes(mutant, file);
      if (survives) survivors.push(mutant);
      console.error(`  ${n + 1}/${mutants.length} line ${mutant.line} ${survives ? 'SURVIVES' : 'noticed'}`);
    }
    done += mutants.length;
    const survived = survivors.slice(before);
    console.log(`${relative(root, file)}: ${mutants.length - survived.length} of ${mutants.length} noticed`);
    for (const { line, before: was, after } of survived)
      console.log(`  line ${line}: ${oneLine(was)}  =>  ${oneLine(after)}`);
  }
  await vitest.close();
  return { mutants: done, survivors };
}

function oneLine(text: string): string {
  const short = text.replaceAll(/\s+/g, ' ');
  return short.length > 100 ? `${short.slice(0, 97)}...` : short;
}

if (values.help) {
  console.log(HELP);
} else {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(folder)
      .sort()
      .map((name) => join(folder, name)),
  ).filter((file) => file.includes(values.only));
  if (files.length === 0) {
    console.error(`no source of authority, server or user has "${values.only}" in its path`);
    process.exitCode = 2;
  } else {
    const { mutants, survivors } = await run(files);
    const score = (100 * (mutants - survivors.length)) / mutants;
    console.log(`\n${mutants - survivors.length} of ${mutants} mutants noticed: score ${score.toFixed(1)} %`);
    if (values.json) {
      const survived = survivors.map(({ file, line, before, after }) => ({
        file: relative(root, file),
        line,
        before,
        after,
      }));
      console.log(JSON.stringify({ mutation: { mutants, noticed: mutants - survivors.length, score, survived } }));
    }
  }
}
