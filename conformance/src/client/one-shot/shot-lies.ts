/**
 * Lies about the statements of authorities in the one-shot mode. A statement with a good signature is beyond the kit's proxies: what they can do
 * is to show real ones at the wrong time, of the wrong task, or too few of them.
 */

import { toHex } from '@basa/masking';
import { type AuthorityStanding, beaconCodec, epochCodec, standingsCodec } from '@basa/protocol';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { oneShotPolicy } from '../../kit-policy.ts';
import { until } from '../../until.ts';
import type { ClientTrial, Scene } from '../client-trial.ts';
import { COUNCIL_SIZE } from '../council-lies.ts';
import { type Lie, STRANGER } from '../lie.ts';
import { changingStandings, sawStandings, standingsOf, tellingStandings, toldStandings } from './shot-task.ts';

const FRESH_MS = 10_000;
/** The next epoch opens when half of it is over, and until its end no statement of it is too old. */
const EPOCH_MS = 40_000;

/** Told by all authorities of the task alike. */
function aboutEach(change: (standing: AuthorityStanding) => AuthorityStanding): Lie['tell'] {
  return (scene) => changingStandings(scene, ({ standings }) => ({ standings: standings.map(change) }));
}

export function shotLies(): readonly Lie[] {
  const lie = { before: 'shot', policy: oneShotPolicy(1) } as const;
  return [
    {
      ...lie,
      name: 'one-shot: refuses an epoch that its authority did not sign',
      tell: aboutEach(({ epoch, beacon, ...whose }) => {
        // The server could open every part that is sealed to a key of its own.
        const own = { ...epoch, key: nodeSuite.x25519(nodeRandomBytes(32)).publicKey };
        return { ...whose, beacon, epoch: { ...own, signature: STRANGER.sign(epochCodec.statement(own)) } };
      }),
    },
    {
      ...lie,
      name: 'one-shot: refuses an epoch of another task',
      tell: async (scene) => {
        const others = standingsCodec.decode(await standingsOfAnotherTask(scene.trial)).standings;
        const epochOf = (index: number) => others.find(({ authority }) => authority === index)?.epoch;
        await aboutEach((standing) => ({ ...standing, epoch: epochOf(standing.authority) ?? standing.epoch }))(scene);
      },
    },
    {
      ...lie,
      name: 'one-shot: refuses a time and a model that the authority did not sign',
      tell: aboutEach(({ beacon, ...rest }) => ({
        ...rest,
        beacon: { ...beacon, signature: STRANGER.sign(beaconCodec.statement(beacon)) },
      })),
    },
    {
      ...lie,
      name: 'one-shot: refuses statements that are old',
      policy: oneShotPolicy(1, { freshMs: FRESH_MS }),
      tell: async (scene) => {
        const old = await standingsOf(scene.trial, scene.task);
        await scene.trial.services.elapse(2 * FRESH_MS);
        tellingStandings(scene, () => old);
      },
    },
    {
      ...lie,
      name: 'one-shot: refuses an epoch that is older than one it saw',
      policy: oneShotPolicy(1, { epochMs: EPOCH_MS }),
      tell: tellOlderEpoch,
    },
    {
      ...lie,
      name: 'one-shot: refuses a version that is older than one it saw',
      tell: async (scene) => {
        const old = await standingsOf(scene.trial, scene.task);
        for (const participant of [0, 2, 3]) await scene.peer(participant);
        await scene.summed();
        await sawStandings(scene);
        tellingStandings(scene, () => old);
      },
    },
    {
      ...lie,
      name: 'one-shot: refuses the statements of too few of several authorities',
      authorities: COUNCIL_SIZE,
      policy: oneShotPolicy(COUNCIL_SIZE),
      tell: (scene) => changingStandings(scene, ({ standings }) => ({ standings: standings.slice(0, -2) })),
    },
  ];
}

/** With the newest model and time: only that the client saw the next epoch tells it that this one was left. */
async function tellOlderEpoch(scene: Scene): Promise<void> {
  const { trial } = scene;
  const [older] = (await toldStandings(scene)).standings;
  if (older === undefined) throw new Error('the server tells no standings');
  await trial.services.elapse(EPOCH_MS / 2);
  const isNewer = async () => (await toldStandings(scene)).standings.some(({ epoch }) => isOther(epoch, older.epoch));
  await until(isNewer, trial.signal);
  await sawStandings(scene);
  await aboutEach((standing) => ({ ...standing, epoch: older.epoch }))(scene);
}

function isOther(epoch: AuthorityStanding['epoch'], older: AuthorityStanding['epoch']): boolean {
  return toHex(epoch.key) !== toHex(older.key);
}

async function standingsOfAnotherTask(trial: ClientTrial): Promise<Uint8Array> {
  let told: Uint8Array = new Uint8Array();
  await trial.scene({ ...oneShotPolicy(1), level: 2 ** 12 }, async ({ task }) => {
    told = await standingsOf(trial, task);
  });
  return told;
}
