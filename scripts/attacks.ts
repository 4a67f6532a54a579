/**
 * `npm run attacks [-- --json]`: every attack of docs/threat-model.md, with CP-ABE and the real state machines, against the
 * mode it breaks and against `sealed`. What was learned is calculated from what the adversary holds.
 */
import { parseArgs } from 'node:util';
import type { Attack, AttackResult } from '@basa/simulator';
import { ATTACKS } from '@basa/simulator';
import { formatTable } from '../bench/table.ts';
import { abeSealings } from '../test/support/real-sealings.ts';
import { nodeEnvironment } from '../test/support/tools.ts';

const { values } = parseArgs({
  options: { json: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
});

interface Played {
  readonly attack: Attack;
  readonly broken: AttackResult;
  readonly sealed: AttackResult;
}

function play(attack: Attack): Played {
  const setting = { environment: nodeEnvironment, sealings: abeSealings };
  return { attack, broken: attack.broken(setting), sealed: attack.sealed(setting) };
}

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

if (values.help) {
  console.log(
    'npm run attacks [-- --json]\n\nPlays attacks A1 to J1 against paper mode (or a mutant of sealed) and against sealed.',
  );
} else {
  // Schedules as they are played: an attack takes a second or two.
  const played = ATTACKS.map((attack) => {
    console.log(`${attack.id}  ${attack.schedule}`);
    if (attack.mutant !== undefined) console.log(`    mutant of sealed: ${attack.mutant}`);
    return play(attack);
  });
  const header = ['', 'against', 'learned', 'sealed: learned', 'stopped by'];
  console.log(`\n${formatTable(header, played.map(row), header.length)}\n`);
  const broken = played.filter(({ sealed }) => sealed.findings.length > 0);
  console.log(`${played.length} attacks; against sealed ${broken.length} learned anything.`);
  if (values.json) console.log(JSON.stringify({ attacks: played.map(toJson) }));
  if (broken.length > 0) process.exitCode = 1;
}
