/**
 * `npm run lab -- attacks`: runs every attack of docs/threat-model.md with real cryptography and the real state machines, against the
 * paper's protocol and against the one-shot mode. Then it runs the attacks on the one-shot mode, each also against a core without the
 * rule that stops it. The result of an attack is computed from the data that the adversary holds.
 */

import { type Command, command, EXIT_CODE } from '@basa/cli/internal/shell/command.ts';
import type { Terminal } from '@basa/cli/internal/shell/terminal.ts';
import { REFUSALS } from '@basa/protocol';
import type { Attack, AttackResult } from '../attacks/attack.ts';
import { ATTACK_WORDS, resultText } from '../attacks/attack-words.ts';
import type { MutantVerdict } from '../oracle/mutants.ts';

interface Played {
  readonly attack: Attack;
  readonly paper: AttackResult;
  readonly oneShot: AttackResult;
}

export const attacks: Command = command({
  name: 'attacks',
  summary: 'run the attacks on the protocol of the paper, and show the checks that stop them in one-shot mode',
  flags: {},
  notes: [
    'Runs attacks A1 to I1 against the protocol of the paper and against one-shot mode. Then runs the attacks on one-shot mode, each against the real code and against a copy of it without the rule that stops the attack. Each attack takes a second or two.',
  ],
  opening: 'preparing the attacks',
  async run({ terminal, signal }) {
    const { ATTACKS } = await import('../attacks/registry.ts');
    const { nodeEnvironment } = await import('@basa/virtual-time/simulation');
    const { paperAbeSealings } = await import('@basa/virtual-time/real-sealings');
    const { playOnOneShot } = await import('../oracle/paper-attacks.ts');
    const setting = { environment: nodeEnvironment, paperSealings: paperAbeSealings };
    const played: Played[] = [];
    for (const attack of ATTACKS) {
      signal.throwIfAborted();
      const one = { attack, paper: attack.paper(setting), oneShot: await playOnOneShot(attack.id) };
      played.push(one);
      for (const line of linesOf(one)) terminal.line(line);
    }
    const onPaper = played.filter(({ paper }) => paper.findings.length > 0 || isWrong(paper.wrongSum));
    const onOneShot = played.filter(({ oneShot }) => oneShot.findings.length > 0);
    terminal.line(
      `\n${onPaper.length} of ${played.length} attacks succeed against the paper’s protocol, and ${onOneShot.length} against one-shot mode.`,
    );
    const oneShot = await playMutants(terminal, signal);
    const isGood = onOneShot.length === 0 && oneShot.every(isStopped);
    return {
      json: { attacks: played.map(toJson), oneShot },
      exitCode: isGood ? EXIT_CODE.fine : EXIT_CODE.failed,
    };
  },
});

/** Runs the attack on each rule of the one-shot mode against the code as it is, and against the code without the rule. */
async function playMutants(terminal: Terminal, signal: AbortSignal): Promise<readonly MutantVerdict[]> {
  const { judgeRule } = await import('../oracle/mutants.ts');
  const { RULES } = await import('../oracle/rules/all.ts');
  terminal.line('\nAttacks on one-shot mode, and the rules that stop them (docs/evidence.md):');
  const verdicts: MutantVerdict[] = [];
  for (const rule of RULES) {
    signal.throwIfAborted();
    terminal.line(`\n${rule.id}: ${rule.attack}`);
    const verdict = await judgeRule(rule);
    verdicts.push(verdict);
    const { unpatchedHolds, learned, without } = verdict;
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
