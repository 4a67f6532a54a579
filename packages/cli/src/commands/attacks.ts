/**
 * `basa attacks`: every attack of docs/threat-model.md, with CP-ABE and the real state machines, against the mode it
 * breaks and against `sealed`. What was learned is calculated from what the adversary holds.
 */
import type { Attack, AttackResult } from '@basa/simulator';
import type { Command } from '../command.ts';
import { EXIT_CODE } from '../command.ts';
import { table } from '../terminal.ts';

interface Played {
  readonly attack: Attack;
  readonly broken: AttackResult;
  readonly sealed: AttackResult;
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
    const { abeSealings } = await import('@basa/experiments/real-sealings');
    const setting = { environment: nodeEnvironment, sealings: abeSealings };
    const played: Played[] = [];
    for (const attack of ATTACKS) {
      signal.throwIfAborted();
      terminal.line(`${attack.id}  ${attack.schedule}`);
      if (attack.mutant !== undefined) terminal.line(`    mutant of sealed: ${attack.mutant}`);
      played.push({ attack, broken: attack.broken(setting), sealed: attack.sealed(setting) });
    }
    terminal.line(`\n${table([['', 'against', 'learned', 'sealed: learned', 'stopped by'], ...played.map(row)])}\n`);
    const broken = played.filter(({ sealed }) => sealed.findings.length > 0);
    terminal.line(`${played.length} attacks; against sealed ${broken.length} learned anything.`);
    return {
      json: { attacks: played.map(toJson) },
      exitCode: broken.length > 0 ? EXIT_CODE.failed : EXIT_CODE.fine,
    };
  },
};

function row({ attack, broken, sealed }: Played): string[] {
  const said = broken.wrongSum === undefined ? learned(broken) : `${learned(broken)}; ${wrongSum(broken.wrongSum)}`;
  const stopped = sealed.refusals.map(({ by, reason }) => `${by}: ${reason}`).join(', ');
  const against = attack.mutant === undefined ? 'paper' : 'mutant';
  return [attack.id, against, said, learned(sealed), stopped === '' ? '(the bytes are useless)' : stopped];
}

function learned({ findings }: AttackResult): string {
  return findings.length === 0 ? 'nothing' : findings.join(', ');
}

function wrongSum({ expected, got }: NonNullable<AttackResult['wrongSum']>): string {
  const wrong = expected.findIndex((value, k) => value !== got[k]);
  return wrong < 0 ? 'the sum is right' : `wrong sum, ${got[wrong]} instead of ${expected[wrong]}`;
}

function toJson({ attack, broken, sealed }: Played): object {
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
      learned: sealed.findings.length > 0,
      findings: sealed.findings,
      refusal: sealed.refusals[0]?.reason ?? null,
      refusals: sealed.refusals,
    },
  };
}
