/** The client in the one-shot mode, beside real devices: the sum opens, and one update leaves in one upload, whatever fails on the way. */

import { FIELD, ring } from '@basa/masking';
import { oneShotPolicy } from '../../kit-policy.ts';
import type { Report } from '../../report.ts';
import { isStep } from '../../steps.ts';
import { type ClientTrial, ITSELF, type Scene } from '../client-trial.ts';
import { COUNCIL_SIZE } from '../council-lies.ts';
import { failTwice, noteRepeats, problemAnswer } from '../fault-scene.ts';
import { killedAt, noteResumed } from '../killed-scene.ts';
import { noteMasks } from '../mask-checks.ts';
import { noteRun, noteSum } from '../sum-check.ts';
import { changingStandings, LEFT_OUT, pieces, uploadsOf } from './shot-task.ts';

/** The participant whose update is the client's second one. */
const SECOND = 4;

/** With four authorities, of which one lies: four masks, and the sum opens without that one. */
export function shotScene(trial: ClientTrial, report: Report): Promise<void> {
  const play = async (scene: Scene): Promise<void> => {
    await scene.peer(0);
    changingStandings(scene, ({ standings }) => ({
      standings: standings.map((one) =>
        one.authority === LEFT_OUT ? { ...one, epoch: { ...one.epoch, closes: one.epoch.opens } } : one,
      ),
    }));
    const { code, output } = await scene.run();
    scene.server.behave();
    report.note('one-shot: contributes', code === 0, {
      expected: 'exit code 0 though what one of four authorities is said to say is forged',
      seen: `code ${code}: ${output.slice(-200)}`,
    });
    if (code !== 0) return;
    noteNamed(scene, report);
    noteMasks(scene, report, 'one-shot: ');
    await noteSecondRuns(scene, report);
    await noteSum(scene, report, 'one-shot: the sum is exact', '3 of 4 authorities, ring of 32 bits');
    await noteNextVersion(scene, report);
  };
  return trial.scene(oneShotPolicy(COUNCIL_SIZE), play, COUNCIL_SIZE);
}

/** A seed that is sealed to a key that nobody vouches for is given away. */
function noteNamed(scene: Scene, report: Report): void {
  const named = uploadsOf(scene).flatMap(({ epochs }) => epochs.map(({ authority }) => authority));
  report.note('one-shot: seals to no key that its authority did not sign', named.join() === '0,2,3', {
    expected: 'an upload that names authorities 0, 2 and 3',
    seen: `authorities ${named.join() || 'of no upload'}`,
  });
}

/** Every run is a process of its own: what was given must be on disk. The server's word frees nothing. */
async function noteSecondRuns(scene: Scene, report: Report): Promise<void> {
  scene.server.onAnswer = (asked, answer) =>
    asked.path.endsWith('/fate') ? { ...answer, body: Buffer.from('{"fate":"refused"}') } : answer;
  const same = await scene.run();
  report.note('one-shot: gives an update in one upload only', uploadsOf(scene).length === 1, {
    expected: 'no second upload of the same update, whatever the server says of the first',
    seen: `${uploadsOf(scene).length} uploads, exit code ${same.code}`,
  });
  const other = await scene.run({ BASA_UPDATE: await scene.updateFile(SECOND) });
  scene.server.behave();
  const isHeld = uploadsOf(scene).length === 1 && other.code !== 0 && other.code !== null;
  report.note('one-shot: gives no second update on a version', isHeld, {
    expected: 'an exit code that is not 0, and no upload of another update while the version is the same',
    seen: `${uploadsOf(scene).length} uploads, exit code ${other.code}`,
  });
}

async function noteNextVersion(scene: Scene, report: Report): Promise<void> {
  const { code, output } = await scene.run({ BASA_UPDATE: await scene.updateFile(SECOND) });
  const versions = uploadsOf(scene).map(({ version }) => version);
  report.note('one-shot: gives its next update on the next version', code === 0 && versions.join() === '0,1', {
    expected: 'exit code 0, and an upload that names version 1',
    seen: `code ${code}, uploads on versions ${versions.join()}: ${output.slice(-200)}`,
  });
}

/** Each step is refused once for the moment, then done and its answer lost. Elements are packed in a ring of 20 bits. */
export function shotFaultScene(trial: ClientTrial, report: Report): Promise<void> {
  return trial.scene({ ...oneShotPolicy(1), modulus: ring(20), level: 2 ** 12 }, async (scene) => {
    await scene.peer(0);
    const asked = failTwice([scene.server], ['standings', 'shot']);
    const isDone = await noteRun(
      scene,
      report,
      'one-shot: goes on after 503 and lost answers',
      'exit code 0 though each step failed twice',
    );
    noteRepeats('shot', asked.get('shot') ?? [], report);
    if (!isDone) return;
    await noteSum(scene, report, 'one-shot: the sum is exact after failures', 'one authority, ring of 20 bits');
  });
}

/** It is killed in the middle of its upload, and then told that the server has more than there is. In the field. */
export function shotKilledScene(trial: ClientTrial, report: Report): Promise<void> {
  return trial.scene({ ...oneShotPolicy(1), modulus: FIELD }, async (scene) => {
    await scene.peer(0);
    await killedAt(scene, scene.server, 'shot', 2);
    await noteWrongOffset(scene, report);
    const before = pieces(scene).length;
    const isDone = await noteRun(
      scene,
      report,
      'one-shot: goes on after it was killed',
      'exit code 0 when it is started again',
    );
    noteResumed(pieces(scene), before, report, 'one-shot: ');
    if (!isDone) return;
    await noteSum(scene, report, 'one-shot: the sum is exact after a kill', 'one authority, field');
  });
}

/** Far beyond any body of the kit. */
const BEYOND = '1000000000';

async function noteWrongOffset(scene: Scene, report: Report): Promise<void> {
  const before = pieces(scene).length;
  scene.server.onAnswer = (asked, answer) =>
    asked.method === 'HEAD' && asked.path.includes('/shots/')
      ? { ...answer, headers: { ...answer.headers, 'upload-offset': BEYOND } }
      : answer;
  const { code } = await scene.run();
  scene.server.behave();
  const sent = pieces(scene).length - before;
  report.note('one-shot: resumes at no byte that its upload does not have', code !== 0 && code !== null && sent === 0, {
    expected: `an exit code that is not 0, and no piece for a server that stands at byte ${BEYOND}`,
    seen: `code ${code}, ${sent} pieces`,
  });
}

/** The server may have kept what it refused: other bytes of the same update, or another update, could be added to them. */
export function shotRefusedScene(trial: ClientTrial, report: Report): Promise<void> {
  return trial.scene(oneShotPolicy(1), async (scene) => {
    refuseShots(scene);
    const first = await scene.run();
    scene.server.behave();
    const again = await scene.run();
    const other = await scene.run({ BASA_UPDATE: await scene.updateFile(ITSELF + SECOND) });
    const codes = [first, again, other].map(({ code }) => code);
    const isHeld = uploadsOf(scene).length === 1 && codes.every((code) => code !== 0 && code !== null);
    report.note('one-shot: sends no other bytes after an upload was refused', isHeld, {
      expected: 'one upload, and exit codes that are not 0, while no authority says that it expired',
      seen: `${uploadsOf(scene).length} uploads, exit codes ${codes.join(', ')}`,
    });
  });
}

function refuseShots({ server }: Scene): void {
  server.onAnswer = (asked, answer) => (isStep('shot', asked) ? problemAnswer('epoch-invalid') : answer);
}
