/**
 * `npm run lab -- attacks`: runs every attack of docs/threat-model.md with real cryptography and the real state machines, against the
 * paper's protocol and against the one-shot mode. Then it runs the attacks on the one-shot mode, each also against a core without the
 * rule that stops it, and at last those that break no rule and read in sums. The result of an attack is computed from the data that the
 * adversary holds.
 */

import { type Command, CommandError, command, EXIT_CODE, text, whole } from '@basa/cli/internal/shell/command.ts';
import { type Terminal, table } from '@basa/cli/internal/shell/terminal.ts';
import { REFUSALS } from '@basa/protocol';
import { ATTACK_WORDS, type Attack, type AttackResult, resultText } from '@basa/simulator/attacks';
import type { MutantVerdict } from '../oracle/mutants.ts';
import type { Rule } from '../oracle/rules/rule.ts';
import type { Readings } from '../readings/play.ts';
import type { Reading, ReadingAttack } from '../readings/reading.ts';

interface Played {
  readonly attack: Attack;
  readonly paper: AttackResult;
  readonly oneShot: AttackResult;
}

const FLAGS = {
  only: text({ value: 'id', help: 'one attack (all by default)' }),
  runs: whole({ help: 'runs of each attack on sums, with other data; 0 for none', min: 0, max: 1000, default: 1 }),
};

export const attacks: Command = command({
  name: 'attacks',
  summary: 'run the attacks on the protocol of the paper, and show the checks that stop them in one-shot mode',
  flags: FLAGS,
  notes: [
    'Runs attacks A1 to I1 against the protocol of the paper and against one-shot mode. Then runs the attacks on one-shot mode, each against the real code and against a copy of it without the rule that stops the attack. Each of these takes a second or two. At last it runs the attacks that break no rule: what they read in sums without noise, at blur (the default noise) and at z = 1. These take minutes.',
  ],
  opening: 'preparing the attacks',
  async run({ flags, terminal, signal }) {
    const chosen = await chosenOf(flags.only);
    const played = await playPaper(chosen.paper, terminal, signal);
    const oneShot = await playMutants(chosen.rules, terminal, signal);
    const sums = await playReadings(flags.runs === 0 ? [] : chosen.readings, flags.runs, terminal, signal);
    const onOneShot = played.filter(({ oneShot: { findings } }) => findings.length > 0);
    const isGood = onOneShot.length === 0 && oneShot.every(isStopped) && sums.every(({ isGood: good }) => good);
    const read = sums.map(({ id, readings }) => ({ id, runs: flags.runs, ...readings }));
    return {
      json: { attacks: [...played.map(toJson), ...read], oneShot },
      exitCode: isGood ? EXIT_CODE.fine : EXIT_CODE.failed,
    };
  },
});

async function chosenOf(only: string | undefined) {
  const { ATTACKS } = await import('@basa/simulator/attacks');
  const { RULES } = await import('../oracle/rules/all.ts');
  const { READINGS } = await import('../readings/all.ts');
  const named = <One extends { readonly id: string }>(all: readonly One[]): readonly One[] =>
    all.filter(({ id }) => only === undefined || id === only);
  const chosen = { paper: named(ATTACKS), rules: named(RULES), readings: named(READINGS) };
  if (Object.values(chosen).every(({ length }) => length === 0)) {
    const ids = [ATTACKS, RULES, READINGS].flatMap((all) => all.map(({ id }) => id));
    throw new CommandError(`--only takes one of ${ids.join(', ')}; got "${only}"`);
  }
  return chosen;
}

async function playPaper(
  attacks: readonly Attack[],
  terminal: Terminal,
  signal: AbortSignal,
): Promise<readonly Played[]> {
  const { nodeEnvironment } = await import('@basa/simulator/node');
  const { paperAbeSealings } = await import('@basa/simulator/real-sealings');
  const { playOnOneShot } = await import('../oracle/paper-attacks.ts');
  const setting = { environment: nodeEnvironment, paperSealings: paperAbeSealings };
  const played: Played[] = [];
  for (const attack of attacks) {
    signal.throwIfAborted();
    const one = { attack, paper: attack.paper(setting), oneShot: await playOnOneShot(attack.id) };
    played.push(one);
    for (const line of linesOf(one)) terminal.line(line);
  }
  if (attacks.length === 0) return played;
  const onPaper = played.filter(({ paper }) => paper.findings.length > 0 || isWrong(paper.wrongSum));
  const onOneShot = played.filter(({ oneShot }) => oneShot.findings.length > 0);
  terminal.line(
    `\n${onPaper.length} of ${played.length} attacks succeed against the paper’s protocol, and ${onOneShot.length} against one-shot mode.`,
  );
  return played;
}

interface PlayedReading {
  readonly id: string;
  readonly readings: Readings;
  readonly isGood: boolean;
}

async function playReadings(
  attacks: readonly ReadingAttack[],
  runs: number,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<readonly PlayedReading[]> {
  const { isAsPromised, readingsOf } = await import('../readings/play.ts');
  const played: PlayedReading[] = [];
  if (attacks.length > 0) terminal.line('\nAttacks that break no rule: what they read in sums (docs/evidence.md):');
  for (const attack of attacks) {
    const { id, without } = attack;
    terminal.line(`\n${id}: ${attack.attack}`);
    terminal.line(`    counted: ${attack.counts} (${attack.sizes})`);
    if (without !== undefined) terminal.line(`    none: ${without.rule}`);
    const onRun = (level: string, run: number): void => terminal.warn(`    ${id}, ${level}: run ${run} of ${runs}`);
    const readings = await readingsOf(attack, { runs, signal, onRun });
    played.push({ id, readings, isGood: isAsPromised(attack, readings) });
  }
  const count = ({ read, of }: Reading): string => `${read} of ${of}`;
  const rows = played.map(({ id, readings: { none, blur, private: full }, isGood }) => {
    return [id, count(none), count(blur), count(full), isGood ? '' : 'NOT AS PROMISED'];
  });
  if (rows.length > 0) terminal.line(`\n${table([['', 'none', 'blur', 'z = 1'], ...rows])}`);
  return played;
}

/** Runs the attack on each rule of the one-shot mode against the code as it is, and against the code without the rule. */
async function playMutants(
  rules: readonly Rule[],
  terminal: Terminal,
  signal: AbortSignal,
): Promise<readonly MutantVerdict[]> {
  if (rules.length === 0) return [];
  const { judgeRules } = await import('../oracle/mutants.ts');
  terminal.line('\nAttacks on one-shot mode, and the rules that stop them (docs/evidence.md):');
  const verdicts: MutantVerdict[] = [];
  for await (const verdict of judgeRules(rules, { triesEachEdit: false })) {
    signal.throwIfAborted();
    verdicts.push(verdict);
    const { id, attack, unpatchedHolds, learned, without } = verdict;
    terminal.line(`\n${id}: ${attack}`);
    terminal.line(
      `    as it is: ${unpatchedHolds ? 'the server learns only the sum' : 'THE SERVER LEARNS MORE THAN THE SUM'}`,
    );
    terminal.line(`    with ${without}: ${learned.join(', ') || 'NOT NOTICED'}`);
  }
  const stopped = verdicts.filter(isStopped).length;
  terminal.line(`\n${stopped} of ${verdicts.length} attacks on one-shot mode are stopped, each by the named rule.`);
  return verdicts;
}

/** Returns the texts that the page "What the server sees" shows. */
function wordsOf({ id, schedule }: Pick<Attack, 'id' | 'schedule'>): readonly string[] {
  const { title, story } = ATTACK_WORDS[id] ?? { title: schedule, story: '' };
  return [`\n${id}  ${title}`, `    ${story}`, `    schedule: ${schedule}`];
}

function isStopped({ unpatchedHolds, caught }: MutantVerdict): boolean {
  return unpatchedHolds && caught;
}

/** Returns the texts of the page, then the checks that refused a step of the attack. */
export function linesOf({ attack, paper, oneShot }: Played): readonly string[] {
  return [
    ...wordsOf(attack),
    `    in one-shot mode: ${attack.inOneShot}`,
    `    The paper’s protocol: ${outcomeOf(paper)}.`,
    `    One-shot mode: ${outcomeOf(oneShot)}.`,
    ...oneShot.refusals.map(({ by, reason }) => `      The ${by} refuses: ${REFUSALS[reason].sentence}`),
  ];
}

function outcomeOf({ findings, hasSum, wrongSum }: AttackResult): string {
  return resultText({ findings, hasSum, isSumWrong: isWrong(wrongSum) });
}

function isWrong(sum: AttackResult['wrongSum']): boolean {
  return sum?.expected.some((value, k) => value !== sum.got[k]) ?? false;
}

function toJson({ attack: { id, schedule, inOneShot }, paper, oneShot }: Played): object {
  const { findings, wrongSum } = paper;
  return {
    id,
    schedule,
    inOneShot,
    paper: { learned: findings.length > 0, findings, ...(wrongSum === undefined ? {} : { wrongSum }) },
    oneShot: {
      learned: oneShot.findings.length > 0,
      findings: oneShot.findings,
      refusal: oneShot.refusals[0]?.reason ?? null,
      refusals: oneShot.refusals,
    },
  };
}
