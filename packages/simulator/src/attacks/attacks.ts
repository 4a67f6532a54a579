/**
 * The attacks of the threat model (docs/threat-model.md): each is one schedule against `paper`, and what stops its counterpart in `one-shot`.
 */
import { ring, toSigned } from '@basa/masking';
import { granted } from '@basa/protocol';
import type { Attack, AttackResult, AttackSetting } from './attack.ts';
import { PaperScene } from './paper-scene.ts';
import { DIMENSION } from './sample-update.ts';

// A1 and A2: a colluder takes a position and its key, goes silent, and an honest user gets the same position.

const A1: Attack = {
  id: 'A1',
  schedule: 'U0 and U1 upload; Eve takes k = 2 and SK_2 and goes silent; U2 gets k = 2',
  inOneShot: 'Eve uploads with U0 and U1; the server puts U2 in her place and asks for the sum again',
  stoppedBy: [
    { by: 'authority', reason: 'upload-used' },
    { by: 'authority', reason: 'too-few-votes' },
  ],
  paper: (setting) => inTurns(setting, 'U0', 'U1', 'Eve', 'U2'),
};

const A2: Attack = {
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

// B1 and B2: an upload comes too late, or in part, and another user is accepted at the same position.

const B1: Attack = {
  id: 'B1',
  schedule: 'Ua at k = 2 is late, but its bytes arrive; Ub is accepted at k = 2; nobody colludes',
  inOneShot:
    'U0, U1 and Ub are in a batch; the upload of Ua arrives late, and the server asks for the sum with Ua in the place of Ub',
  stoppedBy: [
    { by: 'authority', reason: 'upload-used' },
    { by: 'authority', reason: 'too-few-votes' },
  ],
  paper(setting) {
    const scene = new PaperScene(setting);
    lateAtTwo(scene, DIMENSION);
    scene.contribute('Ub');
    return scene.result();
  },
};

const B2: Attack = {
  id: 'B2',
  schedule: 'half of the late bytes of Ua arrive; Ub is accepted at k = 2; Ub colludes',
  inOneShot:
    'the masked half of the upload of Ua arrives without its sealed seeds; the server shows seeds of its own in their place',
  stoppedBy: [
    { by: 'authority', reason: 'body-mismatch' },
    { by: 'authority', reason: 'upload-used' },
    { by: 'authority', reason: 'too-few-votes' },
  ],
  paper(setting) {
    const scene = new PaperScene(setting);
    lateAtTwo(scene, DIMENSION / 2);
    scene.contributeAsColluder('Ub');
    return scene.result();
  },
};

function lateAtTwo(scene: PaperScene, elements: number): void {
  scene.contribute('U0');
  scene.contribute('U1');
  const connection = scene.connect('Ua');
  const late = scene.mask('Ua', connection);
  scene.timeOut();
  scene.arrive(connection, late, elements);
}

// C1: one user sends twice under the same seeds, with an update that was trained or quantised again in between.

const C1: Attack = {
  id: 'C1',
  schedule: 'the upload of U2 at k = 2 seems lost; it trains again, connects again and uploads under the same seeds',
  inOneShot:
    'the server denies that the upload of U2 arrived; U2 sends it again, and then trains again on the same version',
  stoppedBy: [{ by: 'user', reason: 'version-given' }],
  paper(setting) {
    const scene = new PaperScene(setting);
    scene.contribute('U0');
    scene.contribute('U1');
    const connection = scene.connect('U2');
    scene.arrive(connection, scene.mask('U2', connection, 'U2 before'));
    scene.timeOut();
    scene.contribute('U2');
    return scene.result();
  },
};

// D1 and D2: a malicious server lies about the position of a user, and forges or omits the messages that are sealed to it.

const D1: Attack = {
  id: 'D1',
  schedule: 'the server tells every user "k = K-1" and sends forged ciphertexts',
  inOneShot: 'the server shows an epoch key of its own instead of the key of the authority',
  stoppedBy: [{ by: 'user', reason: 'epochs-missing' }],
  paper(setting) {
    const scene = new PaperScene(setting);
    const last = scene.world.bufferSize - 1;
    for (const name of ['U0', 'U1', 'U2']) {
      const connection = {
        ...scene.connect(name),
        ticket: scene.forgeTicket(name, last),
        inbox: [scene.forgeCiphertext(last), scene.forgeCiphertext(last)],
      };
      scene.arrive(connection, scene.mask(name, connection));
      scene.timeOut();
    }
    return scene.result();
  },
};

const D2: Attack = {
  id: 'D2',
  schedule: 'the server withholds c_02 from U2; U1 colludes',
  inOneShot: 'the server withholds the upload of U0 when it asks for the sum of masks; U1 colludes',
  stoppedBy: [{ by: 'authority', reason: 'batch-invalid' }],
  paper(setting) {
    const scene = new PaperScene(setting);
    scene.contribute('U0');
    scene.contributeAsColluder('U1');
    const honest = scene.connect('U2');
    const connection = { ...honest, inbox: honest.inbox.slice(1) };
    scene.arrive(connection, scene.mask('U2', connection));
    return scene.result();
  },
};

// E1: the attributes of one buffer serve for the next, and a colluder of the first has kept its key.

const E1: Attack = {
  id: 'E1',
  schedule: 'Eve uploads at k = 2 and keeps SK_2; the next buffer, of U0, U1 and U2, has the same attributes',
  inOneShot: 'Eve uploads with V0 and V1; the server uses her old upload again in the next batch, with U0 and U1',
  stoppedBy: [
    { by: 'authority', reason: 'upload-used' },
    { by: 'authority', reason: 'too-few-votes' },
  ],
  paper(setting) {
    const scene = new PaperScene(setting);
    scene.contribute('V0');
    scene.contribute('V1');
    scene.contributeAsColluder('Eve');
    scene.world.openNext(scene.world.buffer.ctx);
    for (const name of ['U0', 'U1', 'U2']) scene.contribute(name);
    return scene.result();
  },
};

// G1: all but one user are told that the model is far ahead, so that their updates vanish in the quantiser.

/** S(t - tau) = (1 + 2^52)^-1/2: about 1.5e-8 of the update is left. */
const HUGE = 2 ** 52;
const STALENESS = { kind: 'polynomial', exponent: 0.5 } as const;

const G1: Attack = {
  id: 'G1',
  schedule: 'the server tells all users but U2 a huge t, so that their weighted updates quantise to zero',
  inOneShot: 'the server puts devices on two versions of the model into one batch',
  stoppedBy: [{ by: 'authority', reason: 'batch-invalid' }],
  paper(setting) {
    const scene = new PaperScene(setting, { staleness: STALENESS });
    for (const name of ['U0', 'U1', 'U2']) {
      const honest = scene.connect(name);
      const connection = name === 'U2' ? honest : { ...honest, version: HUGE };
      const prepared = scene.mask(name, connection);
      scene.arrive(connection, prepared);
      granted(scene.world.upload(scene.user(name), prepared));
    }
    return scene.result();
  },
};

// H1: the group is too small for K summands. Nothing is learned; the sum is wrong, and no party notices.

/** Holds one update of up to 2^10 - 1 in either direction, but not three. */
const TOO_SMALL = ring(11);

const H1: Attack = {
  id: 'H1',
  schedule: 'q = 2^11 for three updates of up to 2^10 - 1 either way',
  inOneShot: 'the server asks the authority to take part in a task with q = 2^11 for three such updates',
  stoppedBy: [{ by: 'authority', reason: 'policy-invalid' }],
  paper(setting) {
    const scene = new PaperScene(setting, { modulus: TOO_SMALL });
    const inputs = ['U0', 'U1', 'U2'].map((name) => scene.contribute(name));
    const expected = Array.from(inputs[0] ?? [], (_, k) =>
      inputs.reduce((sum, vector) => sum + toSigned(vector[k] as number, TOO_SMALL), 0),
    );
    const got = Array.from(scene.world.sum, (residue) => toSigned(residue, TOO_SMALL));
    return scene.result({ wrongSum: { expected, got } });
  },
};

// I1: users whose updates are in a sum are told that they are not, and bring the same updates to another buffer.

const I1: Attack = {
  id: 'I1',
  schedule:
    'U0, U1 and V fill a buffer; the server tells U0 and U1 that their time was over, and they upload the same updates again beside Eve; V is kept out',
  inOneShot:
    'a batch of U0, U1 and V is final; the server says that the uploads of U0 and U1 are lost, and asks for them again beside Eve',
  stoppedBy: [{ by: 'user', reason: 'version-given' }],
  paper(setting) {
    const scene = new PaperScene(setting);
    for (const name of ['U0', 'U1', 'V']) scene.contribute(name);
    scene.world.openNext();
    for (const name of ['U0', 'U1']) scene.contributeAgain(name);
    scene.contributeAsColluder('Eve');
    return scene.result();
  },
};

/** In the order of the threat model. */
export const ATTACKS: readonly Attack[] = [A1, A2, B1, B2, C1, D1, D2, E1, G1, H1, I1];
