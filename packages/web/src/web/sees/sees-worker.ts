/** The worker behind "What the server sees": runs a batch, and plays the attacks of the threat model. */

import { REFUSALS } from '@basa/protocol';
import { ATTACKS, type Attack, type AttackSetting } from '@basa/simulator/attacks';
import { loadPaperSealings, pageEnvironment } from '../shared/simulation.ts';
import { runBatch } from './run-batch.ts';
import type { AttackNews, FromSees, ToSees } from './sees-messages.ts';

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
  const setting = { environment: pageEnvironment(), paperSealings: await loaded };
  for (const attack of ATTACKS) tell({ kind: 'attack', attack: played(attack, setting) });
  tell({ kind: 'attacks-over' });
}

/** The checks that stop it in one-shot mode are quoted from the tests: this tab has no services. */
function played(attack: Attack, setting: AttackSetting): AttackNews {
  const { id, schedule, inOneShot, stoppedBy } = attack;
  const { findings, wrongSum } = attack.paper(setting);
  const isSumWrong = wrongSum?.expected.some((value, k) => value !== wrongSum.got[k]) ?? false;
  const checks = stoppedBy.map(({ by, reason }) => ({ by, reason, sentence: REFUSALS[reason].sentence }));
  return { id, schedule, inOneShot, onPaper: { findings, isSumWrong }, checks };
}
