/** A lie in its own scene: the client ends with a refusal, and never sends the message that would reveal something. */
import type { Report } from '../report.ts';
import type { ClientTrial, Scene } from './client-trial.ts';
import type { Lie } from './lie.ts';
import { stepAfter } from './lies.ts';

export function lieScene(trial: ClientTrial, lie: Lie, report: Report): Promise<void> {
  const play = async (scene: Scene): Promise<void> => {
    if (lie.isAboutOthers) await scene.peer(0);
    await lie.tell(scene);
    const { code } = await scene.run(lie.settings);
    const sent = stepAfter(lie, scene.asked);
    report.note(lie.name, code !== 0 && code !== null && sent === undefined, {
      expected: `an exit code that is not 0, and no ${lie.before} or later step`,
      seen: `code ${code}, ${sent === undefined ? 'nothing of it' : `a request for: ${sent}`}`,
    });
  };
  return trial.scene(lie.policy ?? {}, play, lie.authorities);
}
