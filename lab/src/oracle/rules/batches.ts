/** Rules for batches: the form of a batch, votes that sign its members, and enough of them. */
import type { Ctx } from '@basa/protocol';
import { endorse } from '@basa/protocol/internal/wire/council.ts';
import { Certificate } from '@basa/protocol/wire';
import type { AuthorityParty } from '@basa/testkit/world/authority-party.ts';
import type { Adversary, Colluder } from '../adversary.ts';
import { OracleDevice } from '../device.ts';
import { COUNCIL, ignoreRefusedEncoding, type Rule, UPLOAD_USED } from './rule.ts';

const FORM = 'protocol/src/one-shot/rules.ts';
const AUTHORITY = 'protocol/src/one-shot/authority.ts';
const COUNCIL_FILE = 'protocol/src/wire/council.ts';

export const BATCH_RULES: readonly Rule[] = [
  {
    id: 'once',
    attack: 'one upload is in two batches',
    without: 'an upload that gets two votes of an authority',
    learned: ['x of U0 + x of U2', 'x of U1 - x of U2'],
    async play(adversary) {
      const [a, b, c] = (await adversary.honestUploads(3)) as [Ctx, Ctx, Ctx];
      await adversary.close([a, b]);
      await adversary.close([a, c]);
    },
    edits: [UPLOAD_USED],
  },
  {
    id: 'votes-sign-members',
    attack: 'another batch uses the votes of a batch',
    without: 'votes that do not name the uploads of their batch',
    learned: ['x of U0 + x of U2', 'x of U1 - x of U2'],
    async play(adversary) {
      const [a, b, c] = (await adversary.honestUploads(3)) as [Ctx, Ctx, Ctx];
      await adversary.close([a, b]);
      for (const party of adversary.honest) await adversary.release(party, [a, c]);
    },
    edits: [
      {
        file: 'protocol/src/wire/upload.ts',
        find: 'return Batch.hash(suite, batch) as Ctx;',
        replace: 'return Batch.hash(suite, { ...batch, uploads: [] }) as Ctx;',
      },
    ],
  },
  {
    id: 'enough-votes',
    attack: 'the server shows each authority a different batch, and asks for its release',
    without: 'a batch released without enough votes',
    learned: ['x of U0', 'x of U1', 'x of U2'],
    world: COUNCIL,
    async play(adversary) {
      const lists = await pairs(adversary);
      for (const [n, party] of adversary.honest.entries()) await adversary.vote(party, lists[n] as Ctx[]);
      for (const party of adversary.honest) for (const list of lists) await adversary.release(party, list);
    },
    edits: [
      {
        file: AUTHORITY,
        find: 'if (!isVoted || votes.length < threshold)',
        replace: 'if (votes.length < 0)',
      },
    ],
  },
  {
    id: 'distinct-votes',
    attack: 'the server shows the vote of one colluding authority three times',
    without: 'votes that count more than once',
    learned: ['x of U0', 'x of U1', 'x of U2'],
    world: COUNCIL,
    async play(adversary) {
      const lists = await pairs(adversary);
      for (const party of adversary.honest)
        for (const names of lists) {
          const [bought] = adversary.votesFor(names);
          const votes = bought === undefined ? [] : [bought, bought, bought];
          await adversary.release(party, names, { votes }).catch(ignoreRefusedEncoding);
        }
    },
    edits: [
      {
        file: COUNCIL_FILE,
        find: 'authority <= (all[n - 1]?.authority ?? -1)',
        replace: 'authority < (all[n - 1]?.authority ?? -1)',
      },
      { file: COUNCIL_FILE, find: 'if (!isRising) return false;', replace: '' },
    ],
  },
  {
    id: 'enough-devices',
    attack: 'a batch has fewer devices than the policy requires',
    without: 'a batch with too few devices',
    learned: ['x of U0'],
    world: { policy: { minimum: 3 } },
    async play(adversary) {
      const [a] = (await adversary.honestUploads(1)) as [Ctx];
      const [eve] = (await adversary.colluders(1)) as [Colluder];
      await adversary.close([a]);
      await adversary.close([a, eve.name]);
    },
    edits: [{ file: FORM, find: 'if (headers.length < minimum)', replace: 'if (headers.length < 1)' }],
  },
  {
    id: 'distinct-devices',
    attack: 'one colluder fills a batch',
    without: 'one device twice in a batch',
    learned: ['x of U0'],
    world: { policy: { minimum: 3 } },
    async play(adversary) {
      const [a] = (await adversary.honestUploads(1)) as [Ctx];
      await adversary.close([a, ...(await adversary.twoUploads())]);
    },
    edits: [{ file: FORM, find: 'if (repeated.length > 0)', replace: 'if (repeated.length < 0)' }],
  },
  {
    id: 'once-on-a-model',
    attack: 'a device gives two updates on one version',
    without: 'two updates of a device on one version',
    learned: ['two updates of one device on one version are in sums'],
    async play(adversary) {
      const [a, b] = (await adversary.honestUploads(2)) as [Ctx, Ctx];
      const [first, second] = await adversary.twoUploads();
      const isFirst = await adversary.close([a, first]);
      if ((await adversary.close([b, second])) && isFirst)
        adversary.trace.broken.add('two updates of one device on one version are in sums');
    },
    edits: [
      {
        file: AUTHORITY,
        find: 'return givenNameOf(suite, task, header.model, header.user);',
        replace: 'return uploadNameOf(suite, { ...header, task });',
      },
    ],
  },
  {
    id: 'certified-devices',
    attack: 'one of four authorities certifies devices that the others have not enrolled, and they fill a batch',
    without: 'devices that too few authorities enrolled',
    learned: ['uploads of devices that one authority made up are in a batch'],
    world: { ...COUNCIL, policy: { minimum: 3 } },
    async play(adversary) {
      const [victim] = (await adversary.honestUploads(1)) as [Ctx];
      const [liar] = adversary.colluding as [AuthorityParty];
      const invented = [await inventedUpload(adversary, liar, victim), await inventedUpload(adversary, liar, victim)];
      if (await adversary.close([victim, ...invented]))
        adversary.trace.broken.add('uploads of devices that one authority made up are in a batch');
    },
    edits: [
      {
        file: COUNCIL_FILE,
        find: 'return statement.endorsements.length >= council.threshold && has',
        replace: 'return statement.endorsements.length >= 1 && has',
      },
    ],
  },
];

async function pairs(adversary: Adversary): Promise<readonly (readonly Ctx[])[]> {
  const [a, b, c] = (await adversary.honestUploads(3)) as [Ctx, Ctx, Ctx];
  return [
    [a, b],
    [a, c],
    [b, c],
  ];
}

/** An upload like another one, of a device whose certificate has the signature of one authority. */
async function inventedUpload(adversary: Adversary, { signer }: AuthorityParty, like: Ctx): Promise<Ctx> {
  const device = OracleDevice.invented(adversary.world);
  const body = { task: adversary.world.taskId, deviceKey: device.store.signer.publicKey };
  device.certificate = endorse(Certificate, adversary.policy, signer, body);
  const header = { ...adversary.upload(like).header, user: device.user };
  return adversary.forge(device, header, adversary.ownParts(header));
}
