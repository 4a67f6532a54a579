/** Rules for what an authority and a device remember: restores, epochs that end, crashes, and revoked devices. */
import { toHex } from '@basa/masking';
import type { Ctx } from '@basa/protocol';
import { AUTHORITY_PATH } from '@basa/protocol/http';
import { nodeRandomBytes } from '@basa/runtime/node';
import { operate } from '@basa/testkit/world/operator.ts';
import { type Colluder, withOtherTag } from '../adversary.ts';
import { otherModel } from '../shown-models.ts';
import { COUNCIL, type Rule, withAuthorityNoise } from './rule.ts';

const HOUR_MS = 3_600_000;

export const TIME_RULES: readonly Rule[] = [
  {
    id: 'restored-authority',
    attack: 'an authority is restored from a backup without its vote, and asked to vote for another batch',
    without: 'epochs that outlive a restore',
    learned: ['x of U0 + x of U2', 'x of U1'],
    world: { policy: { minimum: 3 } },
    /** {a, c, v}, then {a, e, v} with a colluder in place of c. */
    async play(adversary) {
      const [a, c, v] = (await adversary.honestUploads(3)) as [Ctx, Ctx, Ctx];
      const [eve] = (await adversary.colluders(1)) as [Colluder];
      const back = adversary.honest[0]?.copied();
      await adversary.close([a, c, v]);
      await back?.();
      await adversary.close([a, eve.name, v]);
    },
    edits: [
      {
        file: 'authority/src/units/unit-file.ts',
        find: 'first !== undefined && (await identityOf(file.#file)).equals(first.subarray(0, IDENTITY_BYTES));',
        replace: 'first !== undefined;',
      },
    ],
  },
  {
    id: 'ended-epoch',
    attack: 'an epoch that has ended is released',
    without: 'an epoch released after its end',
    learned: ['an epoch that has ended was released'],
    async play(adversary) {
      const names = await adversary.honestUploads(2);
      for (const party of adversary.honest) await adversary.vote(party, names);
      for (let n = 0; n < 6; n++) await adversary.wait(HOUR_MS / 2);
      for (const party of adversary.honest)
        if ((await adversary.release(party, names)) !== undefined)
          adversary.trace.broken.add('an epoch that has ended was released');
    },
    edits: [
      {
        file: 'protocol/src/one-shot/epochs.ts',
        find: 'return now >= epochEnd(oneShotOf(policy), epoch);',
        replace: 'return now < 0;',
      },
    ],
  },
  {
    id: 'recorded-before-sent',
    attack: 'a device crashes after its upload has left, and gives again',
    without: 'an upload that is not recorded before it is sent',
    learned: ['a device gives twice on one model'],
    async play(adversary) {
      const device = await adversary.device();
      await adversary.give(device, { crashes: true });
      await device.restart();
      await adversary.give(device);
    },
    edits: [
      {
        file: 'protocol/src/one-shot/device.ts',
        find: "  yield* ask('durable', { step, body });\n",
        replace: '',
      },
    ],
  },
  {
    id: 'given-once',
    attack: 'an honest device trains a second time on the same model',
    without: 'two updates of an honest device on one model',
    learned: ['a device gives twice on one model'],
    async play(adversary) {
      const device = await adversary.device();
      await adversary.give(device);
      await adversary.give(device);
    },
    edits: [
      {
        file: 'protocol/src/one-shot/ledger.ts',
        find: 'serial <= given.serial || isOfPredecessor',
        replace: 'serial < given.serial || isOfPredecessor',
      },
    ],
  },
  {
    id: 'no-older-model',
    attack: 'a device is shown an older model than the one on which it gave',
    without: 'a device that gives on an older model',
    learned: ['a device gives on an older model'],
    async play(adversary) {
      const device = await adversary.device();
      await adversary.honestUploads(1);
      const old = adversary.kept.at(-1);
      await adversary.makeVersion();
      if ((await adversary.give(device)) === undefined) throw new Error('a device gives on the newest model');
      adversary.shown = old;
      if ((await adversary.give(device)) !== undefined) adversary.trace.broken.add('a device gives on an older model');
    },
    edits: [
      {
        file: 'protocol/src/one-shot/ledger.ts',
        find: 'serial <= given.serial || isOfPredecessor',
        replace: 'serial === given.serial || isOfPredecessor',
      },
    ],
  },
  {
    id: 'revoked-device',
    attack: 'an upload of a revoked device is in a batch',
    without: 'uploads of revoked devices',
    learned: ['an upload of a revoked device is in a batch'],
    world: COUNCIL,
    async play(adversary) {
      const [honest] = (await adversary.honestUploads(1)) as [Ctx];
      const [stolen] = (await adversary.colluders(1)) as [Colluder];
      for (const { url } of adversary.honest)
        await operate(adversary.world.wire.fetch, 'POST', new URL(AUTHORITY_PATH.revocations, url), {
          user: toHex(stolen.device.user),
        });
      if (await adversary.close([honest, stolen.name]))
        adversary.trace.broken.add('an upload of a revoked device is in a batch');
    },
    edits: [
      {
        file: 'protocol/src/one-shot/authority.ts',
        find: "if (isRevoked(user)) return 'revoked';",
        replace: '',
      },
    ],
  },
  {
    id: 'budget',
    attack: 'a device whose budget is spent gives on the next model',
    without: 'a budget that no authority counts',
    learned: ['a device is in more batches than its budget allows'],
    world: withAuthorityNoise(1),
    async play(adversary) {
      const first = await adversary.honestUploads(2);
      const [{ device, name }] = (await adversary.colluders(1)) as [Colluder];
      const isFirst = await adversary.close([...first, name]);
      adversary.shown = await otherModel(adversary.kept.at(-1) as Uint8Array, adversary.world.serverSigner);
      const second = await adversary.honestUploads(2);
      const header = withOtherTag({ ...adversary.upload(second[0] as Ctx).header, user: device.user });
      const again = await adversary.forge(device, header, adversary.ownParts(header));
      if ((await adversary.close([...second, again])) && isFirst)
        adversary.trace.broken.add('a device is in more batches than its budget allows');
    },
    edits: [
      {
        file: 'protocol/src/one-shot/authority.ts',
        find: "return batchesOf(user) >= most ? 'budget-spent' : undefined;",
        replace: "return batchesOf(user) < 0 ? 'budget-spent' : undefined;",
      },
    ],
  },
  {
    id: 'own-task',
    attack: 'an authority is asked to serve a task that names other authorities',
    without: 'a task that does not name its authority',
    learned: ['an authority serves a task that does not name it'],
    async play({ honest, policy, trace, world }) {
      const other = { ...policy, authorities: [nodeRandomBytes(32)] };
      for (const { url } of honest)
        if (await world.isServed(url, other)) trace.broken.add('an authority serves a task that does not name it');
    },
    edits: [
      {
        file: 'protocol/src/wire/devices.ts',
        find: "(isMember ? undefined : 'the policy does not name this authority')",
        replace: '(isMember ? undefined : undefined)',
      },
    ],
  },
];
