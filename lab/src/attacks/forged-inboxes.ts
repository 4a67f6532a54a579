/** D1 and D2: a malicious server lies about the position of a user, and forges or omits the messages that are sealed to it. */
import { type Ctx, epochCodec, epochKeysOf, oneShotOf, standingsCodec } from '@basa/protocol';
import type { Attack } from './attack.ts';
import { againstOneShot } from './one-shot/against-one-shot.ts';
import type { ShotOracle } from './one-shot/shot-oracle.ts';
import { type Colluder, colluders, honestUploads } from './one-shot/shot-scene.ts';
import { PaperScene } from './paper-scene.ts';

export const D1: Attack = {
  id: 'D1',
  schedule: 'the server tells every user "k = K-1" and sends forged ciphertexts',
  inOneShot: 'the server shows an epoch key of its own instead of the key of the authority',
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
  oneShot: (setting) =>
    againstOneShot(setting, (oracle) => {
      const deceived = oracle.give(oracle.world.shooter(), forgedStandings(oracle));
      if (deceived !== undefined) oracle.trace.broken.add('a device seals its seeds to a key of the server');
      oracle.close(honestUploads(oracle, 3));
    }),
};

export const D2: Attack = {
  id: 'D2',
  schedule: 'the server withholds c_02 from U2; U1 colludes',
  inOneShot: 'the server withholds the upload of U0 when it asks for the sum of masks; U1 colludes',
  paper(setting) {
    const scene = new PaperScene(setting);
    scene.contribute('U0');
    scene.contributeAsColluder('U1');
    const honest = scene.connect('U2');
    const connection = { ...honest, inbox: honest.inbox.slice(1) };
    scene.arrive(connection, scene.mask('U2', connection));
    return scene.result();
  },
  oneShot: (setting) =>
    againstOneShot(setting, (oracle) => {
      const [u0, u2] = honestUploads(oracle, 2) as [Ctx, Ctx];
      const [u1] = colluders(oracle, 1) as readonly [Colluder];
      const names = [u0, u1.name, u2];
      for (const keeper of oracle.honest) oracle.vote(keeper, names);
      for (const keeper of oracle.honest) oracle.release(keeper, names, 0, { withheld: [u0] });
      oracle.close(names);
    }),
};

/** The statements of the authorities, with a key of the server in them and its signature on them. */
function forgedStandings({ world }: ShotOracle): Uint8Array {
  const { environment, policy, randomBytes, server, shots } = world;
  const keys = epochKeysOf(environment.tools.suite, oneShotOf(policy).sealing, randomBytes(32));
  const { standings } = standingsCodec.decode(shots.standings());
  const forged = standings.map((standing) => {
    const body = { ...standing.epoch, ...keys };
    const signature = server.ports.signer.sign(epochCodec.statement(body));
    return { ...standing, epoch: { ...body, signature } };
  });
  return standingsCodec.encode({ standings: forged });
}
