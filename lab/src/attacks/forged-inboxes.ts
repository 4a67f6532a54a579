/** D1 and D2: a malicious server lies about the position of a user, and forges or omits the messages that are sealed to it. */
import type { Attack } from './attack.ts';
import { PaperScene } from './paper-scene.ts';

export const D1: Attack = {
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

export const D2: Attack = {
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
