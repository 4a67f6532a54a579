/**
 * `npm run lab -- attacks`: runs every attack of docs/threat-model.md with real cryptography and the real state machines, against the mode
 * that it breaks and against `sealed` with both engines. Then it runs the attacks of a server that colludes with one of four authorities,
 * and the attacks on the one-shot mode. The result of an attack is computed from the data that the adversary holds.
 */

import { type Command, command, EXIT_CODE } from '@basa/cli/internal/shell/command.ts';
import type { Terminal } from '@basa/cli/internal/shell/terminal.ts';
import { REFUSALS } from '@basa/protocol';
import type { Attack, AttackResult, AttackSetting } from '../attacks/attack.ts';
import { ATTACK_WORDS, resultText } from '../attacks/attack-words.ts';
import type { Mutant } from '../proofs/mutants/mutant.ts';
import type { MutantVerdict } from '../proofs/mutants/runs.ts';

interface Played {
  readonly attack: Attack;
  readonly broken: AttackResult;
  /** With both engines, if the attack supports more than one. */
  readonly sealed: { readonly slotKeys: AttackResult; readonly cpAbe?: AttackResult };
}

export const attacks: Command = command({
  name: 'attacks',
  summary: 'run the attacks on the protocol of the paper, and show the checks that stop them in sealed mode',
  flags: {},
  notes: [
    'Runs attacks A1 to R1 against paper mode (or against a mutant of sealed mode) and against sealed mode. Then runs the attacks of a server that colludes with one of four authorities, and the attacks on the one-shot mode. Each attack takes a second or two.',
  ],
  opening: 'preparing the attacks',
  async run({ terminal, signal }) {
    const { ATTACKS } = await import('../attacks/registry.ts');
    const { nodeEnvironment } = await import('@basa/virtual-time/simulation');
    const { abeSealings, paperAbeSealings, slotKeySealings } = await import('@basa/virtual-time/real-sealings');
    const settings = [slotKeySealings, abeSealings].map((sealings) => ({
      environment: nodeEnvironment,
      sealings,
      paperSealings: paperAbeSealings,
    })) as [AttackSetting, AttackSetting];
    const played: Played[] = [];
    for (const attack of ATTACKS) {
      signal.throwIfAborted();
      const slotKeys = attack.sealed(settings[0]);
      const cpAbe = attack.stoppedBy === undefined ? { cpAbe: attack.sealed(settings[1]) } : {};
      const one = { attack, broken: attack.broken(settings[0]), sealed: { slotKeys, ...cpAbe } };
      played.push(one);
      for (const line of linesOf(one)) terminal.line(line);
    }
    const broken = played.filter((one) => allFindings(one).length > 0);
    terminal.line(
      `\n${broken.length} of ${played.length} attacks succeed against sealed mode, with slot keys and CP-ABE.`,
    );
    const councils = await playCouncils(terminal);
    const oneShot = await playOneShot(terminal);
    const isGood = broken.length === 0 && [...councils, ...oneShot].every(isStopped);
    return {
      json: { attacks: played.map(toJson), councils, oneShot },
      exitCode: isGood ? EXIT_CODE.fine : EXIT_CODE.failed,
    };
  },
});

/** Runs each attack against the unmodified core, and against a core without the rule that stops the attack. */
async function playMutants(
  terminal: Terminal,
  { heading, of, mutants }: { readonly heading: string; readonly of: string; readonly mutants: readonly Mutant[] },
  tell: (mutant: Mutant) => void = ({ caughtBy }) => terminal.line(`\n${caughtBy}`),
): Promise<readonly MutantVerdict[]> {
  const { judgeMutant } = await import('../proofs/mutants/runs.ts');
  terminal.line(`\n${heading}`);
  const verdicts: MutantVerdict[] = [];
  for (const mutant of mutants) {
    tell(mutant);
    const verdict = await judgeMutant(mutant);
    verdicts.push(verdict);
    const { name, unpatchedHolds, learned: without, broken } = verdict;
    terminal.line(
      `    unmodified core: ${unpatchedHolds ? 'the server learns only the sum' : 'THE SERVER LEARNS MORE THAN THE SUM'}`,
    );
    terminal.line(`    with the mutant "${name}": ${[...without, ...broken].join(', ') || 'NOT NOTICED'}`);
  }
  const stopped = verdicts.filter(isStopped).length;
  terminal.line(`\n${stopped} of ${verdicts.length} attacks on ${of} are stopped, each by the named rule.`);
  return verdicts;
}

async function playCouncils(terminal: Terminal): Promise<readonly MutantVerdict[]> {
  const { MUTANTS_OF_COUNCILS: mutants } = await import('../proofs/mutants/of-councils.ts');
  const heading = 'Four authorities, three of them needed, one of them colluding with the server:';
  return playMutants(terminal, { heading, of: 'several authorities', mutants });
}

async function playOneShot(terminal: Terminal): Promise<readonly MutantVerdict[]> {
  const { MUTANTS_OF_ONE_SHOT: mutants } = await import('../proofs/mutants/of-one-shot.ts');
  const { ONE_SHOT_ATTACKS } = await import('../attacks/one-shot/registry.ts');
  const heading = 'The one-shot mode. Rules S1 to S26 stop these attacks (docs/evidence.md):';
  return playMutants(terminal, { heading, of: 'the one-shot mode', mutants }, ({ caughtBy }) => {
    const attack = ONE_SHOT_ATTACKS.find(({ schedule }) => schedule === caughtBy);
    for (const line of attack === undefined ? [] : wordsOf(attack)) terminal.line(line);
  });
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
export function linesOf(one: Played): readonly string[] {
  const { attack, broken, sealed } = one;
  const { mutant, stoppedBy } = attack;
  const isStop = stoppedBy !== undefined;
  const weaker = mutant === undefined ? 'The paper’s protocol' : `Sealed mode without the rule against it (${mutant})`;
  const weak = { findings: broken.findings, isSumWrong: isWrong(broken.wrongSum), hasSum: false };
  const strong = { findings: allFindings(one), isSumWrong: false, hasSum: false };
  return [
    ...wordsOf(attack),
    `    ${weaker}: ${resultText(weak, isStop)}.`,
    `    Sealed mode: ${resultText(strong, isStop)}.`,
    ...refusalsOf(sealed).map(({ by, reason }) => `      The ${by} refuses: ${REFUSALS[reason].sentence}`),
    ...(isStop ? [`      This rule keeps the task running: ${stoppedBy}.`] : []),
  ];
}

function isWrong(sum: AttackResult['wrongSum']): boolean {
  return sum?.expected.some((value, k) => value !== sum.got[k]) ?? false;
}

function allFindings({ sealed: { slotKeys, cpAbe } }: Played): readonly string[] {
  return [...new Set([...slotKeys.findings, ...(cpAbe?.findings ?? [])])];
}

function refusalsOf({ slotKeys, cpAbe }: Played['sealed']): AttackResult['refusals'] {
  const isNew = ({ by, reason }: AttackResult['refusals'][number]): boolean =>
    !slotKeys.refusals.some((known) => known.by === by && known.reason === reason);
  return [...slotKeys.refusals, ...(cpAbe?.refusals ?? []).filter(isNew)];
}

function toJson(one: Played): object {
  const { attack, broken, sealed } = one;
  const [findings, refusals] = [allFindings(one), refusalsOf(sealed)];
  const { wrongSum: wrong } = broken;
  return {
    id: attack.id,
    schedule: attack.schedule,
    paper: {
      learned: broken.findings.length > 0,
      findings: broken.findings,
      ...(attack.mutant === undefined ? {} : { mutant: true, rule: attack.mutant }),
      ...(wrong === undefined ? {} : { wrongSum: wrong }),
    },
    sealed: {
      learned: findings.length > 0,
      findings,
      refusal: refusals[0]?.reason ?? null,
      refusals,
      ...(attack.stoppedBy === undefined ? {} : { stoppedBy: attack.stoppedBy }),
      engines: {
        slotKeys: { learned: sealed.slotKeys.findings.length > 0 },
        ...(sealed.cpAbe === undefined ? {} : { cpAbe: { learned: sealed.cpAbe.findings.length > 0 } }),
      },
    },
  };
}
