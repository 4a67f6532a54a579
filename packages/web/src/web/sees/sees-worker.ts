/** The worker behind "What the server sees": runs a batch, and plays the attacks of the threat model. */

import type { Attack, AttackResult, AttackSetting } from '@basa/lab/attacks/attack.ts';
import { ONE_SHOT_ATTACKS } from '@basa/lab/attacks/one-shot/registry.ts';
import { playShot, type ShotAttack } from '@basa/lab/attacks/one-shot/shot-scene.ts';
import { ATTACKS } from '@basa/lab/attacks/registry.ts';
import { REFUSALS, type RefusalReason } from '@basa/protocol';
import { webSuiteWithKem } from '@basa/runtime/web';
import type { Environment } from '@basa/simulator';
import { loadPaperSealings, pageEnvironment } from '../shared/simulation.ts';
import { runBatch } from './run-batch.ts';
import type { AttackNews, Check, FromSees, Played, ToSees } from './sees-messages.ts';

interface WorkerScope {
  postMessage(news: FromSees): void;
  addEventListener(name: 'message', listener: (event: MessageEvent<ToSees>) => void): void;
}

const scope = self as unknown as WorkerScope;
const tell = (news: FromSees): void => scope.postMessage(news);
const loaded = loadPaperSealings();

scope.addEventListener('message', ({ data }) => {
  const work = data.kind === 'run' ? run(data.pictures) : playAttacks();
  work.catch((error: unknown) => tell({ kind: 'failed', message: String(error) }));
});

async function run(pictures: readonly Float32Array[]): Promise<void> {
  runBatch(pictures, tell);
}

async function playAttacks(): Promise<void> {
  const environment = pageEnvironment(await webSuiteWithKem());
  for (const attack of ONE_SHOT_ATTACKS) tell({ kind: 'attack', attack: playOneShot(attack, environment) });
  const setting = { environment, paperSealings: await loaded };
  for (const attack of ATTACKS) tell({ kind: 'attack', attack: playOnBoth(attack, setting) });
  tell({ kind: 'attacks-over' });
}

function playOnBoth(attack: Attack, setting: AttackSetting): AttackNews {
  const { id, schedule, inOneShot } = attack;
  return {
    id,
    on: 'paper',
    schedule,
    inOneShot,
    broken: playedOf(attack.paper(setting)),
    asItIs: playedOf(attack.oneShot(setting)),
  };
}

function playedOf({ findings, refusals, wrongSum, hasSum }: AttackResult): Played {
  const isSumWrong = wrongSum?.expected.some((value, k) => value !== wrongSum.got[k]) ?? false;
  return { findings, refusals: refusals.map(({ by, reason }) => checkOf(by, reason)), isSumWrong, hasSum };
}

/** The leak of the mode without the rule is quoted from the tests of the mutants: this tab has no such core. */
function playOneShot(attack: ShotAttack, environment: Environment): AttackNews {
  const { id, schedule, without, learned } = attack;
  const report = playShot(attack, environment);
  const refusals = report.refusals.map(({ by, reason }) => checkOf(by, reason));
  return {
    id,
    on: 'one-shot',
    schedule,
    mutant: without,
    broken: { findings: learned, refusals: [], isSumWrong: false, hasSum: false },
    asItIs: {
      findings: [...report.leaked, ...report.broken],
      refusals,
      isSumWrong: false,
      hasSum: report.learned.length > 0,
    },
  };
}

function checkOf(by: string, reason: RefusalReason): Check {
  return { by, reason, sentence: REFUSALS[reason].sentence };
}
