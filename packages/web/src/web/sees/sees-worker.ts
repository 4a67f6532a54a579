/** The worker behind "What the server sees": runs a buffer, and plays the attacks of the threat model. */

import type { AttackResult } from '@basa/lab/attacks/attack.ts';
import { ATTACKS } from '@basa/lab/attacks/registry.ts';
import { REFUSALS } from '@basa/protocol';
import { loadAbeSealings, pageEnvironment, slotKeySealings } from '../shared/simulation.ts';
import { runBuffer } from './run-buffer.ts';
import type { FromSees, Played, ToSees } from './sees-messages.ts';

interface WorkerScope {
  postMessage(news: FromSees): void;
  addEventListener(name: 'message', listener: (event: MessageEvent<ToSees>) => void): void;
}

const scope = self as unknown as WorkerScope;
const tell = (news: FromSees): void => scope.postMessage(news);
const loaded = loadAbeSealings();

scope.addEventListener('message', ({ data }) => {
  const work = data.kind === 'run' ? run(data.pictures) : playAttacks();
  work.catch((error: unknown) => tell({ kind: 'failed', message: String(error) }));
});

async function run(pictures: readonly Float32Array[]): Promise<void> {
  runBuffer(pictures, slotKeySealings(), tell);
}

async function playAttacks(): Promise<void> {
  const setting = { environment: pageEnvironment(), sealings: slotKeySealings, paperSealings: await loaded };
  for (const attack of ATTACKS) {
    const { id, schedule, mutant, stoppedBy } = attack;
    tell({
      kind: 'attack',
      isLast: attack === ATTACKS.at(-1),
      attack: {
        id,
        schedule,
        broken: playedOf(attack.broken(setting)),
        sealed: playedOf(attack.sealed(setting)),
        ...(mutant !== undefined && { mutant }),
        ...(stoppedBy !== undefined && { stoppedBy }),
      },
    });
  }
}

function playedOf({ findings, refusals, wrongSum }: AttackResult): Played {
  const isSumWrong = wrongSum?.expected.some((value, k) => value !== wrongSum.got[k]) ?? false;
  const checks = refusals.map(({ by, reason }) => ({ by, reason, sentence: REFUSALS[reason].sentence }));
  return { findings, refusals: checks, isSumWrong };
}
