/** G1: all but one user are told that the model is far ahead, so that their updates vanish in the quantiser. */
import { type Ctx, modelEntryCodec, standingsCodec } from '@basa/protocol';
import { granted } from '@basa/simulator';
import type { Attack } from './attack.ts';
import { againstOneShot } from './one-shot/against-one-shot.ts';
import type { ShotOracle } from './one-shot/shot-oracle.ts';
import { honestUploads } from './one-shot/shot-scene.ts';
import { PaperScene } from './paper-scene.ts';

/** S(t - tau) = (1 + 2^52)^-1/2: about 1.5e-8 of the update is left. */
const HUGE = 2 ** 52;
const STALENESS = { kind: 'polynomial', exponent: 0.5 } as const;

export const G1: Attack = {
  id: 'G1',
  schedule: 'the server tells all users but U2 a huge t, so that their weighted updates quantise to zero',
  inOneShot: 'the server makes up a version of the model; then it puts devices on two versions into one batch',
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
  oneShot: (setting) =>
    againstOneShot(setting, (oracle) => {
      if (oracle.give(oracle.world.shooter(), withVersion(oracle, HUGE)) !== undefined)
        oracle.trace.broken.add('a device trains on a version that the server made up');
      const old = oracle.world.shots.standings();
      const first = honestUploads(oracle, 3);
      oracle.close(first);
      oracle.logVersion(first);
      const behind = [0, 1].map(() => oracle.give(oracle.world.shooter(), old) as Ctx);
      oracle.close([...behind, ...honestUploads(oracle, 1)], 1);
    }),
};

/** The statements of the authorities, with an entry of the model log that the server signed. */
function withVersion({ world: { server, shots } }: ShotOracle, version: number): Uint8Array {
  const { standings } = standingsCodec.decode(shots.standings());
  const forged = standings.map((standing) => {
    const entry = { ...standing.beacon.entry, version };
    const signature = server.ports.signer.sign(modelEntryCodec.statement(entry));
    const endorsements = entry.endorsements.map((one) => ({ ...one, signature }));
    return { ...standing, beacon: { ...standing.beacon, entry: { ...entry, endorsements } } };
  });
  return standingsCodec.encode({ standings: forged });
}
