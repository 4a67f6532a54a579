/**
 * `basa attacks`: every attack of docs/threat-model.md, with real cryptography and the real state machines, against the mode
 * it breaks and against `sealed` with both of its engines. What was learned is calculated from what the adversary holds.
 */
import type { Attack, AttackResult, AttackSetting } from '@basa/simulator';
import { type Command, EXIT_CODE } from '../command.ts';
import { table } from '../terminal.ts';

interface Played {
  readonly attack: Attack;
  readonly broken: AttackResult;
  /** With both engines, where the attack knows more than one. */
  readonly sealed: { readonly slotKeys: AttackResult; readonly cpAbe?: AttackResult };
}

export const attacks: Command = {
  name: 'attacks',
  summary: 'plays the attacks on the paper, and shows what stops them in sealed mode',
  usage:
    '  Attacks A1 to R1 against paper mode (or a mutant of sealed) and against sealed; each takes a second or two.\n',
  flags: {},
  opening: 'preparing the attacks',
  async run({ terminal, signal }) {
    const { ATTACKS } = await import('@basa/simulator');
    const { nodeEnvironment } = await import('@basa/experiments/simulation');
    const { abeSealings, paperAbeSealings, slotKeySealings } = await import('@basa/experiments/real-sealings');
    const settings = [slotKeySealings, abeSealings].map((sealings) => ({
      environment: nodeEnvironment,
      sealings,
      paperSealings: paperAbeSealings,
    })) as [AttackSetting, AttackSetting];
    const played: Played[] = [];
    for (const attack of ATTACKS) {
      signal.throwIfAborted();
      terminal.line(`${attack.id}  ${attack.schedule}`);
      if (attack.mutant !== undefined) terminal.line(`    mutant of sealed: ${attack.mutant}`);
      const slotKeys = attack.sealed(settings[0]);
      const cpAbe = attack.stoppedBy === undefined ? { cpAbe: attack.sealed(settings[1]) } : {};
      played.push({ attack, broken: attack.broken(settings[0]), sealed: { slotKeys, ...cpAbe } });
    }
    const head = ['', 'against', 'learned or stopped', 'sealed: learned or stopped', 'stopped by'];
    terminal.line(`\n${table([head, ...played.map(row)])}\n`);
    const broken = played.filter((one) => allFindings(one).length > 0);
    terminal.line(
      `${played.length} attacks; against sealed, with slot keys and CP-ABE, ${broken.length} learned or stopped anything.`,
    );
    return {
      json: { attacks: played.map(toJson) },
      exitCode: broken.length > 0 ? EXIT_CODE.failed : EXIT_CODE.fine,
    };
  },
};

function row(one: Played): string[] {
  const { attack, broken, sealed } = one;
  const said = broken.wrongSum === undefined ? learned(broken) : `${learned(broken)}; ${wrongSum(broken.wrongSum)}`;
  const stopped = [...new Set(refusalsOf(sealed).map(({ by, reason }) => `${by}: ${reason}`))].join(', ');
  const against = attack.mutant === undefined ? 'paper' : 'mutant';
  return [
    attack.id,
    against,
    said,
    learned({ findings: allFindings(one) }),
    stopped === '' ? (attack.stoppedBy ?? '(the bytes are useless)') : stopped,
  ];
}

function allFindings({ sealed: { slotKeys, cpAbe } }: Played): readonly string[] {
  return [...new Set([...slotKeys.findings, ...(cpAbe?.findings ?? [])])];
}

function refusalsOf({ slotKeys, cpAbe }: Played['sealed']): AttackResult['refusals'] {
  const isNew = ({ by, reason }: AttackResult['refusals'][number]): boolean =>
    !slotKeys.refusals.some((known) => known.by === by && known.reason === reason);
  return [...slotKeys.refusals, ...(cpAbe?.refusals ?? []).filter(isNew)];
}

function learned({ findings }: Pick<AttackResult, 'findings'>): string {
  return findings.length === 0 ? 'nothing' : findings.join(', ');
}

function wrongSum({ expected, got }: NonNullable<AttackResult['wrongSum']>): string {
  const wrong = expected.findIndex((value, k) => value !== got[k]);
  return wrong < 0 ? 'the sum is right' : `wrong sum, ${got[wrong]} instead of ${expected[wrong]}`;
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
