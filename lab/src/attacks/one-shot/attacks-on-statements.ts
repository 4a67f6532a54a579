/**
 * Attacks of the one-shot mode on what makes a signed statement count: certificates and models that enough authorities signed, one vote
 * for each authority, a device that is not revoked, and a task that names its authorities.
 */
import {
  type Beacon,
  beaconCodec,
  type CertificateBody,
  type Ctx,
  certificateCodec,
  endorse,
  isRefused,
  type JoinTag,
  modelEntryCodec,
  type ShotHeader,
  standingsCodec,
  userIdOf,
} from '@basa/protocol';
import type { ShotAuthority } from '@basa/simulator';
import type { Forger, ShotOracle } from './shot-oracle.ts';
import {
  COUNCIL,
  type Colluder,
  canGive,
  colluders,
  honestUploads,
  type ShotAttack,
  withLyingStandings,
} from './shot-scene.ts';

export const ATTACKS_ON_STATEMENTS: readonly ShotAttack[] = [
  {
    id: 'S27',
    schedule: 'one of four authorities certifies devices that the others have not enrolled, and they fill a batch',
    without: 'devices that too few authorities enrolled',
    learned: ['uploads of devices that one authority made up are in a batch'],
    world: { ...COUNCIL, minimum: 3 },
    play(oracle) {
      const [victim] = honestUploads(oracle, 1) as [Ctx];
      const { header } = oracle.stored(victim).upload;
      const [liar] = oracle.colluding as readonly [ShotAuthority];
      const invented = [0, 1].map(() => uploadOf(oracle, inventedDevice(oracle, liar), header));
      if (oracle.close([victim, ...invented]))
        oracle.trace.broken.add('uploads of devices that one authority made up are in a batch');
    },
  },
  {
    id: 'S28',
    schedule: 'the server shows the vote of one colluding authority three times',
    without: 'votes that count more than once',
    learned: ['x of U0', 'x of U1', 'x of U2'],
    world: COUNCIL,
    play(oracle) {
      const [a, b, c] = honestUploads(oracle, 3) as [Ctx, Ctx, Ctx];
      const lists = [
        [a, b],
        [a, c],
        [b, c],
      ];
      for (const keeper of oracle.honest)
        for (const [n, names] of lists.entries()) {
          const bought = oracle.votesFor(names, n);
          oracle.tryRelease(keeper, names, n, [...bought, ...bought, ...bought]);
        }
    },
  },
  {
    id: 'S29',
    schedule: 'the server asks an authority to serve a task that names other authorities',
    without: 'a task that does not name its authority',
    learned: ['an authority serves a task that does not name it'],
    play({ world: { policy, randomBytes }, honest, trace }) {
      for (const { base } of honest) {
        const created = base.core.draft().createTask({ ...policy, authorities: [randomBytes(32)] });
        if (!isRefused(created.answer)) trace.broken.add('an authority serves a task that does not name it');
      }
    },
  },
  {
    id: 'S30',
    schedule: 'an authority publishes an X25519 key of low order',
    without: 'X25519 keys that are not checked',
    learned: ['an honest device cannot seal its seeds'],
    world: COUNCIL,
    play(oracle) {
      const shown = withLyingStandings(oracle, ({ epoch }) => ({ epoch: { ...epoch, key: new Uint8Array(32) } }));
      if (!canGive(oracle, shown)) oracle.trace.broken.add('an honest device cannot seal its seeds');
    },
  },
  {
    id: 'S31',
    schedule: 'one of four authorities makes up a version of the model',
    without: 'a model that too few authorities signed',
    learned: ['a device trains on a version that one authority made up'],
    world: COUNCIL,
    play(oracle) {
      const shown = withLyingStandings(oracle, ({ beacon }, liar) => ({ beacon: beaconOn(oracle, liar, beacon) }));
      const given = oracle.give(oracle.world.shooter(), shown);
      if (given !== undefined && oracle.stored(given).upload.header.version === INVENTED)
        oracle.trace.broken.add('a device trains on a version that one authority made up');
    },
  },
  {
    id: 'S32',
    schedule: 'the server shows a device an older version than before',
    without: 'a device that goes back to an older version',
    learned: ['a device goes back to an older version'],
    play(oracle) {
      const device = oracle.world.shooter();
      const old = oracle.world.shots.standings();
      const first = honestUploads(oracle, 2);
      oracle.close(first);
      oracle.logVersion(first);
      device.receive(standingsCodec.decode(oracle.world.shots.standings()).standings);
      if (oracle.give(device, old) !== undefined) oracle.trace.broken.add('a device goes back to an older version');
    },
  },
  {
    id: 'S35',
    schedule: 'an upload of a revoked device is in a batch',
    without: 'uploads of revoked devices',
    learned: ['an upload of a revoked device is in a batch'],
    play(oracle) {
      const [honest] = honestUploads(oracle, 1) as [Ctx];
      const [stolen] = colluders(oracle, 1) as readonly [Colluder];
      const { user } = stolen.device.own;
      for (const { base } of oracle.honest) base.persist(base.core.draft().revoke(user, oracle.world.now));
      if (oracle.close([honest, stolen.name])) oracle.trace.broken.add('an upload of a revoked device is in a batch');
    },
  },
];

const INVENTED = 7;

/** A device whose certificate has the signature of one authority only. */
function inventedDevice({ world }: ShotOracle, { base }: ShotAuthority): Forger {
  const { suite } = world.environment.tools;
  const signer = world.signer();
  const body: CertificateBody = { task: world.task, deviceKey: signer.publicKey };
  const certificate = endorse(certificateCodec, world.policy, base.ports.signer, body);
  return { user: userIdOf(suite, signer.publicKey), signer, certificate };
}

/** An upload in the same epochs and on the same version as another one. */
function uploadOf(oracle: ShotOracle, device: Forger, like: ShotHeader): Ctx {
  const header = { ...like, user: device.user, joinTag: oracle.world.randomBytes(16) as JoinTag };
  return oracle.forge(device, header, oracle.ownParts(header));
}

/** A beacon of the liar about a version that it signed alone. */
function beaconOn(
  { world: { policy, randomBytes } }: ShotOracle,
  { base }: ShotAuthority,
  { signature: _, ...beacon }: Beacon,
) {
  const { signer } = base.ports;
  const { endorsements: __, ...entry } = beacon.entry;
  const body = { ...entry, version: INVENTED, modelHash: randomBytes(32) };
  const invented = { ...beacon, entry: endorse(modelEntryCodec, policy, signer, body) };
  return { ...invented, signature: signer.sign(beaconCodec.statement(invented)) };
}
