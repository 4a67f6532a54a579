/**
 * K1 and L1: the updates of all users but one are made to vanish in the quantiser, all of them or on one block of
 * parameters, so that the sum shows that one user's update. A server does it by a hint about training, or by the model
 * it publishes.
 */
import { type Block, millis } from '@basa/protocol';
import { type FederationDevice, SEAT_MS } from '@basa/simulator';
import type { Attack, AttackResult, AttackSetting } from './attack.ts';
import { ALL_OF_THREE, SealedScene } from './sealed-scene.ts';
import { closeBuffer } from './server-moves.ts';

/** The rest of an update quantises to zero, although no float of it is zero. */
const TINY = 1e-12;
const NAMES = ['U0', 'U1', 'U2'];
const VICTIM = 'U2';

/** A device that trains: the gradient is its own, the rate is the one it follows. */
function trained(scene: SealedScene, device: FederationDevice, rate: number): Float32Array {
  return scene.update(device).map((gradient) => rate * gradient);
}

export const K1: Attack = {
  id: 'K1',
  schedule: 'the server tells all users but U2 to train at a tiny rate, so that their updates quantise to zero',
  mutant: 'a device that trains by the server’s hint, and looks for zeros before it quantises',
  broken(setting) {
    const scene = new SealedScene(setting, ALL_OF_THREE);
    for (const name of NAMES) {
      const device = scene.honest(name);
      device.blocks = [];
      scene.offer(device, trained(scene, device, hintFor(scene, name)));
    }
    closeAll(scene);
    return scene.result();
  },
  sealed(setting) {
    const scene = new SealedScene(setting, ALL_OF_THREE);
    // A device whose application follows the hint anyway deposits nothing.
    const gullible = scene.honest('V');
    scene.offer(gullible, trained(scene, gullible, hintFor(scene, 'V')));
    lapseSeats(scene);
    for (const name of NAMES) {
      const device = scene.honest(name);
      scene.offer(device, trained(scene, device, scene.world.pins.policy.training.learningRate));
    }
    closeAll(scene);
    return scene.result();
  },
};

function hintFor({ world }: SealedScene, name: string): number {
  return name === VICTIM ? world.policy.training.learningRate : TINY;
}

/** Three tensors; on the second one the model of the server leaves nothing to learn for all but the victim. */
const TENSORS: readonly Block[] = [0, 64, 128].map((offset) => [offset, 64]);
const DEAD: Block = [64, 64];

export const L1: Attack = {
  id: 'L1',
  schedule: 'the server chooses a model on which the updates of all users but U2 vanish in one block of parameters',
  mutant: 'blocks that are checked before they are quantised',
  broken: (setting) => deadBlock(setting, []),
  sealed: (setting) => deadBlock(setting, TENSORS),
};

function deadBlock(setting: AttackSetting, blocks: readonly Block[]): AttackResult {
  const scene = new SealedScene(setting, { ...ALL_OF_THREE, dimension: 3 * 64 });
  const offer = (name: string, isDead: boolean): void => {
    const device = scene.honest(name);
    device.blocks = blocks;
    const [offset, length] = DEAD;
    const delta = scene.update(device).map((value, k) => {
      return isDead && k >= offset && k < offset + length ? TINY * value : value;
    });
    scene.offer(device, delta);
  };
  for (const name of NAMES) offer(name, name !== VICTIM);
  // A device that was refused leaves its place to others, who train on something else.
  lapseSeats(scene);
  for (const name of ['U3', 'U4']) if (isOpen(scene)) offer(name, false);
  closeAll(scene);
  return scene.resultOn(DEAD);
}

/** A device that has a seat and deposits nothing loses it after a while. */
function lapseSeats({ world }: SealedScene): void {
  world.now = millis(world.now + SEAT_MS);
}

/** True if the only buffer has room. */
function isOpen({ world }: SealedScene): boolean {
  return [...world.server.buffers.values()].some(({ slots, descriptor }) => slots.length < descriptor.bufferSize);
}

function closeAll(scene: SealedScene): void {
  for (const { ctx } of scene.world.server.buffers.values()) closeBuffer(scene, ctx);
}
