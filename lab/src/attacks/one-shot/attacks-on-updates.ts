/** Attacks of the one-shot mode with an update that a device gives too often, or that spoils the sum. */
import { type Ctx, isRefused } from '@basa/protocol';
import { ShotOracle } from './shot-oracle.ts';
import { honestUploads, PRIVACY, type ShotAttack } from './shot-scene.ts';

/** The position of the weight in x'. */
const WEIGHT = 4;

export const ATTACKS_ON_UPDATES: readonly ShotAttack[] = [
  {
    id: 'S33',
    schedule: 'an honest device trains a second time on the same version',
    without: 'two updates of an honest device on one version',
    learned: ['two updates of one device on one version are in sums'],
    play(oracle) {
      const device = oracle.world.shooter();
      const first = oracle.give(device) as Ctx;
      const others = honestUploads(oracle, 2);
      device.own.newUpdate();
      const second = oracle.give(device);
      if (second === undefined) return;
      const isInBoth = [first, second].every((name, n) => oracle.close([name, others[n] as Ctx], n));
      if (isInBoth) oracle.trace.broken.add('two updates of one device on one version are in sums');
    },
  },
  {
    id: 'S34',
    schedule: 'a device of a private task gives one update more than its budget allows',
    without: 'updates beyond the budget of a device',
    learned: ['a device is in more sums than its budget allows'],
    world: { dimension: 64, level: 64, privacy: { ...PRIVACY, participations: 1 }, authorityNoise: true },
    play(oracle) {
      const device = oracle.world.shooter();
      const first = [oracle.give(device) as Ctx, ...honestUploads(oracle, 1)];
      oracle.close(first);
      oracle.logVersion(first);
      device.own.newUpdate();
      const second = oracle.give(device);
      if (second !== undefined && oracle.close([second, ...honestUploads(oracle, 1)], 1))
        oracle.trace.broken.add('a device is in more sums than its budget allows');
    },
  },
  {
    id: 'S36',
    schedule: 'a device gives an update with a coordinate that is out of range',
    without: 'coordinates that are not checked',
    learned: ['a sum that is out of range becomes a model'],
    play: (oracle) => spoil(oracle, (vector) => vector.fill(2 ** 30, vector.length - 1)),
  },
  {
    id: 'S37',
    schedule: 'a device gives an update with a weight that is out of range',
    without: 'weights that are not checked',
    learned: ['a sum that is out of range becomes a model'],
    play: (oracle) => spoil(oracle, (vector) => vector.fill(2 ** 30, WEIGHT, WEIGHT + 1)),
  },
];

/** The server and the authority are honest here, so the trace of an unused world is judged. One device changes its input. */
function spoil({ world: { environment }, trace }: ShotOracle, change: (vector: Uint32Array) => void): void {
  const { world } = new ShotOracle(environment, { dimension: 4 });
  const { shots, policy, server } = world;
  for (let n = 0; n < 2; n++) world.shooter().contribute();
  const liar = world.shooter();
  const built = liar.inputOf(liar.own.oneHot(), server.entry().version);
  if (isRefused(built)) throw new Error('an input can be built');
  change(built.vector);
  liar.contribute(liar.own.oneHot(), built.vector);
  shots.inspect();
  const ctx = shots.form();
  const verdict = ctx && shots.close(ctx);
  if (verdict === undefined || isRefused(verdict)) throw new Error(`a batch of ${policy.bufferSize} opens`);
  if (verdict.kind === 'good') trace.broken.add('a sum that is out of range becomes a model');
}
