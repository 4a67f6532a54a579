/** Runs the attack on a rule against a copy of the code without the rule, in its own process. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundleFolder, FOR_NODE } from '@basa/testkit/processes/bundle.ts';
import { ROOT } from '@basa/testkit/root.ts';
import { build, type Plugin } from 'esbuild';
import { type Edit, playRule, type Rule } from './rules/rule.ts';
import type { AttackReport } from './trace.ts';

export interface MutantRun extends AttackReport {
  /** The first generated schedule that leaks as well, if one does. */
  readonly generated?: { readonly name: string; readonly leaked: readonly string[] };
}

let bundles = 0;

/** Returns the information that the attack on the rule with this id gets from the code with these edits. */
export async function runPatched(edits: readonly Edit[], id: string, schedules = 0): Promise<MutantRun> {
  return JSON.parse(await patchedOutput(edits, 'lab/src/oracle/mutant.ts', [id, String(schedules)])) as MutantRun;
}

/** Returns what this program says if the code has these edits. */
export async function patchedOutput(edits: readonly Edit[], program: string, args: readonly string[]): Promise<string> {
  const applied = new Set<Edit>();
  const folder = bundleFolder(`mutant-${bundles++}`);
  await build({
    ...FOR_NODE,
    entryPoints: {
      mutant: join(ROOT, program),
      'work/worker': join(ROOT, 'packages/server/src/closing/work/worker.ts'),
    },
    outdir: folder,
    logLevel: 'silent',
    plugins: [patching(edits, applied)],
  });
  const unused = edits.find((edit) => !applied.has(edit));
  if (unused !== undefined) throw new Error(`nothing imports ${unused.file}`);
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'mutant.js'), ...args], {
    maxBuffer: 2 ** 26,
  });
  return stdout;
}

function patching(edits: readonly Edit[], applied: Set<Edit>): Plugin {
  return {
    name: 'patches',
    setup: ({ onLoad }) =>
      onLoad({ filter: /packages\/.*\.ts$/ }, ({ path }) => {
        const mine = edits.filter(({ file }) => path === join(ROOT, 'packages', file));
        if (mine.length === 0) return undefined;
        for (const edit of mine) applied.add(edit);
        return { contents: mine.reduce(patched, readFileSync(path, 'utf8')), loader: 'ts' };
      }),
  };
}

function patched(text: string, { file, find, replace }: Edit): string {
  const found = text.split(find).length - 1;
  if (found !== 1)
    throw new Error(`${file}: the text to patch occurs ${found} times instead of once: ${JSON.stringify(find)}`);
  return text.replace(find, () => replace);
}

/** True if the attack learned more than it may, or broke a promise. */
function isCaught({ leaked, broken }: AttackReport): boolean {
  return leaked.length > 0 || broken.length > 0;
}

export interface MutantVerdict {
  readonly id: string;
  readonly without: string;
  readonly attack: string;
  /** The code as it is gives the same attack at most the sums that it may. */
  readonly unpatchedHolds: boolean;
  readonly caught: boolean;
  readonly learned: readonly string[];
  /** The number of places that enforce the rule. With `eachAloneStops`, any one of them stops the attack. */
  readonly edits: number;
  readonly eachAloneStops: boolean;
  /** The first generated schedule that also leaks, or null if no schedule leaks. */
  readonly generated: string | null;
}

interface JudgeOptions {
  /** Generated schedules for each mutant. */
  readonly schedules?: number;
  /** Mutants with one of several edits reverted are played as well. */
  readonly triesEachEdit?: boolean;
}

/** Judges several rules at once, one for each core, and tells the verdicts in the order of the rules. */
export async function* judgeRules(rules: readonly Rule[], options: JudgeOptions = {}): AsyncGenerator<MutantVerdict> {
  const underWay: Promise<MutantVerdict>[] = [];
  for (const rule of rules) {
    if (underWay.length === availableParallelism()) yield (await underWay.shift()) as MutantVerdict;
    const judging = judgeRule(rule, options);
    judging.catch(() => undefined); // it is awaited later
    underWay.push(judging);
  }
  for (const judging of underWay) yield await judging;
}

/** Plays the attack against the code as it is, the mutant, and the mutant with each of its edits reverted. */
export async function judgeRule(rule: Rule, options: JudgeOptions = {}): Promise<MutantVerdict> {
  const { schedules = 0, triesEachEdit = true } = options;
  const { id, attack, edits, without } = rule;
  const unpatched = await playRule(rule);
  const run = await runPatched(edits, id, schedules);
  const weaker = edits.length > 1 && triesEachEdit ? edits.map((_, n) => edits.filter((__, m) => m !== n)) : [];
  const stops: boolean[] = [];
  for (const some of weaker) stops.push(!isCaught(await runPatched(some, id)));
  return {
    id,
    without,
    attack,
    unpatchedHolds: !isCaught(unpatched),
    caught: isCaught(run),
    learned: [...run.leaked, ...run.broken],
    edits: edits.length,
    eachAloneStops: stops.every((stop) => stop),
    generated: run.generated?.name ?? null,
  };
}
