/** A1 and A2: a colluder takes a position and its key, goes silent, and an honest user gets the same position. */
import type { Attack, AttackResult, AttackSetting } from './attack.ts';
import { PaperScene } from './paper-scene.ts';

export const A1: Attack = {
  id: 'A1',
  schedule: 'U0 and U1 upload; Eve takes k = 2 and SK_2 and goes silent; U2 gets k = 2',
  inOneShot: 'Eve uploads with U0 and U1; the server puts U2 in her place and asks for the sum again',
  stoppedBy: [
    { by: 'authority', reason: 'upload-used' },
    { by: 'authority', reason: 'too-few-votes' },
  ],
  paper: (setting) => inTurns(setting, 'U0', 'U1', 'Eve', 'U2'),
};

export const A2: Attack = {
  id: 'A2',
  schedule: 'Eve times out at k = 1 with SK_1, and again at k = 2 with SK_2; U0, U1 and U2 upload',
  inOneShot: 'Eve makes two uploads, and the server batches both of them with one upload of each other device',
  stoppedBy: [{ by: 'authority', reason: 'duplicate-user' }],
  paper: (setting) => inTurns(setting, 'U0', 'Eve', 'U1', 'Eve', 'U2'),
};

/** Users of the paper in this order; Eve takes a position with its key and goes silent. */
function inTurns(setting: AttackSetting, ...names: readonly string[]): AttackResult {
  const scene = new PaperScene(setting);
  for (const name of names) {
    if (name === 'Eve') scene.takeKeyAndGoSilent(name);
    else scene.contribute(name);
  }
  return scene.result();
}
