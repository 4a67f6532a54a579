/** A single upload is in no batch until its time is over. Its authorities state that one by one, and the third statement frees the update. */
import { oneShotPolicy } from '../../kit-policy.ts';
import type { Report } from '../../report.ts';
import type { ServiceProxy } from '../../service-proxy.ts';
import type { ClientTrial, Scene } from '../client-trial.ts';
import { COUNCIL_SIZE } from '../council-lies.ts';
import { uploadsOf } from './shot-task.ts';

const EPOCH_MS = 20_000;
const VOTE_MS = 1_000;

export function shotExpiredScene(trial: ClientTrial, report: Report): Promise<void> {
  const play = async (scene: Scene): Promise<void> => {
    const { code, output } = await scene.run();
    if (code !== 0) throw new Error(`the client did not contribute: ${output.slice(-200)}`);
    await trial.services.elapse(EPOCH_MS + 2 * VOTE_MS);
    await noteRun(scene, report, 2, 'one-shot: frees no update on the word of too few authorities');
    await noteRun(scene, report, 1, 'one-shot: frees an update on the word of enough authorities');
  };
  return trial.scene(oneShotPolicy(COUNCIL_SIZE, { epochMs: EPOCH_MS, voteMs: VOTE_MS }), play, COUNCIL_SIZE);
}

/** Runs the client while the first `silent` authorities do not answer questions about outcomes. */
async function noteRun(scene: Scene, report: Report, silent: number, name: string): Promise<void> {
  for (const [n, proxy] of scene.authorities.entries()) hideOutcomes(proxy, n < silent);
  const { code } = await scene.run();
  const uploads = uploadsOf(scene).length;
  const heard = COUNCIL_SIZE - silent;
  const isEnough = heard >= scene.policy.threshold;
  report.note(name, uploads === (isEnough ? 2 : 1), {
    expected: `${isEnough ? 'another' : 'no other'} upload of an update that ${heard} authorities call expired`,
    seen: `${uploads} uploads, exit code ${code}`,
  });
}

function hideOutcomes(proxy: ServiceProxy, isSilent: boolean): void {
  proxy.onAsk = ({ path }) => (isSilent && path.includes('/shot-outcomes/') ? 'cut' : undefined);
}
