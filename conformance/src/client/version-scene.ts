/** With one version a buffer: the client joins no buffer of another version, and gives one update on each version. */
import { seatRequestCodec } from '@basa/protocol';
import type { Report } from '../report.ts';
import type { Asked } from '../service-proxy.ts';
import { isStep } from '../steps.ts';
import type { ClientTrial, Scene } from './client-trial.ts';
import { changing } from './lie.ts';
import { noteSum } from './sum-check.ts';

/** The participant whose update is the client's second one. */
const SECOND = 4;

/** A server that seats the client's update of version 1 beside updates of version 0 could read it off the sum. */
export function otherVersionScene(trial: ClientTrial, report: Report): Promise<void> {
  return trial.scene({}, async (scene) => {
    for (const participant of [0, 2, 3]) await scene.peer(participant, scene.server.url);
    await scene.summed();
    const older = scene.server.passed.find(({ asked }) => isStep('seat', asked))?.answer.body;
    if (older === undefined) throw new Error('the devices of the kit took no seat');
    const before = deposits(scene);
    changing(scene.server, /\/seats$/, () => older);
    const { code } = await scene.run();
    const made = deposits(scene) - before;
    report.note('refuses a buffer of another version than its update', code !== 0 && code !== null && made === 0, {
      expected: 'an exit code that is not 0, and no deposit into a buffer of version 0 with an update of version 1',
      seen: `code ${code}, ${made} deposits`,
    });
    noteVersionAsked(scene, report);
  });
}

/** Its update is trained on the newest model, which its request for a seat names by number and hash. */
function noteVersionAsked(scene: Scene, report: Report): void {
  const asked = scene.asked.filter((one) => isStep('seat', one)).at(-1);
  const named = asked === undefined ? undefined : versionOf(asked);
  report.note('asks for a seat with the version of its update', named === 1, {
    expected: 'a seatRequest with version 1',
    seen: named === undefined ? 'none' : `version ${named}`,
  });
}

/** Every run is a process of its own: what was given on a version must be on disk. */
export function secondUpdateScene(trial: ClientTrial, report: Report): Promise<void> {
  return trial.scene({}, async (scene) => {
    await scene.peer(0);
    const first = await scene.run();
    if (first.code !== 0) throw new Error(`the client did not contribute: ${first.output.slice(-200)}`);
    const before = deposits(scene);
    const second = { BASA_UPDATE: await scene.updateFile(SECOND) };
    const { code } = await scene.run(second);
    const made = deposits(scene) - before;
    report.note('gives no second update on a version', code !== 0 && code !== null && made === 0, {
      expected: 'an exit code that is not 0, and no deposit of another update while the version is the same',
      seen: `code ${code}, ${made} deposits`,
    });
    await noteSum(scene, report, 'the sum is exact after a second update was asked for', 'one update a version');
    const next = await scene.run(second);
    report.note('gives its next update on the next version', next.code === 0, {
      expected: 'exit code 0 once there is another version',
      seen: `code ${next.code}: ${next.output.slice(-200)}`,
    });
  });
}

function versionOf({ body }: Asked): number | undefined {
  try {
    return seatRequestCodec.decode(body).version;
  } catch {
    return undefined;
  }
}

function deposits({ asked }: Scene): number {
  return asked.filter((one) => isStep('deposit', one)).length;
}
