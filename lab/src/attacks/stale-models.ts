/** M1: all users but one are shown an old entry of the model log again, of a model on which their updates vanish. */
import { type NewestModel, receiveNewest, type Versions } from '@basa/protocol';
import type { FederationDevice } from '@basa/simulator';
import type { Attack, AttackResult, AttackSetting } from './attack.ts';
import { ALL_OF_THREE, SealedScene } from './sealed-scene.ts';
import { closeBuffer } from './server-moves.ts';

/** The server chose version 0: with dead units, for example, it leaves no gradient. */
const DEAD_VERSION = 0;
const TINY = 1e-12;

export const M1: Attack = {
  id: 'M1',
  schedule:
    'nothing can be learned from version 0, but from version 1; the server shows all users but U2 the signed entry of version 0 again',
  mutant:
    'mixed versions, and a device that accepts every entry that the authority ever signed, and looks for zeros before it quantises',
  broken: (setting) =>
    replayed(setting, 'unsafeMixed', (_, device, { entry }) => {
      device.blocks = [];
      return entry.version;
    }),
  sealed: (setting) => replayed(setting, 'one', newestVersion),
};

/** Returns the version a device trains on after it was shown an answer. */
type Believe = (scene: SealedScene, device: FederationDevice, answer: NewestModel) => number;

function replayed(setting: AttackSetting, versions: Versions, believe: Believe): AttackResult {
  const scene = new SealedScene(setting, { ...ALL_OF_THREE, versions });
  const { world } = scene;
  const old = world.authority.newestModel(world.randomBytes(16));
  const first = ['W0', 'W1', 'W2'].map((name) => scene.honest(name));
  for (const device of first) scene.go(device);
  world.server.finish((first[0] as FederationDevice).ctx);
  for (const name of ['U0', 'U1', 'U2']) {
    const device = scene.honest(name);
    newestVersion(scene, device); // it was present when version 1 was made
    const version = name === 'U2' ? newestVersion(scene, device) : believe(scene, device, old);
    const scale = version === DEAD_VERSION ? TINY : 1;
    scene.offer(
      device,
      scene.update(device).map((value) => scale * value),
      'upload',
      version,
    );
  }
  for (const { ctx, status } of world.server.buffers.values()) if (status === 'filling') closeBuffer(scene, ctx);
  return scene.result();
}

/** Asks like the client: with a nonce, and with the versions in its ledger. A replay is refused, and the device asks again. */
function newestVersion(scene: SealedScene, device: FederationDevice, shown?: NewestModel): number {
  const { authority, policy, randomBytes, task } = scene.world;
  const nonce = randomBytes(16);
  const question = { suite: device.suite, council: policy, task, nonce, isPast: () => false };
  const answers = [{ authority: 0, answer: shown ?? authority.newestModel(nonce) }];
  const { state, answer } = receiveNewest(question, device, answers);
  if ('kind' in answer) {
    scene.note(answer);
    return newestVersion(scene, device);
  }
  device.ledger = state.ledger;
  return answer.version;
}
