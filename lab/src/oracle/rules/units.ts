/** Rules for the units of an authority: names live with the secret of their own epoch, and are recorded before a vote is signed. */
import type { Ctx } from '@basa/protocol';
import { type Adversary, type Colluder, withOtherTag } from '../adversary.ts';
import type { Rule } from './rule.ts';

const AUTHORITY = 'protocol/src/one-shot/authority.ts';
const HOUR_MS = 3_600_000;
/** An epoch opens a quarter before the last one closes. */
const SECOND_OPENS_MS = 0.8 * HOUR_MS;

export const UNIT_RULES: readonly Rule[] = [
  {
    id: 'recorded-before-signed',
    attack: 'an authority crashes after its vote, and is asked to vote for another batch',
    without: 'a vote that is signed before it is recorded',
    learned: ['x of U0 + x of U2', 'x of U1 - x of U2'],
    async play(adversary) {
      const [a, b, c] = (await adversary.honestUploads(3)) as [Ctx, Ctx, Ctx];
      for (const party of adversary.honest) {
        await adversary.vote(party, [a, b]);
        await party.restart();
        await adversary.vote(party, [a, c]);
        await adversary.release(party, [a, b]);
        await adversary.release(party, [a, c]);
      }
    },
    edits: [
      {
        file: 'authority/src/steps/inspect-uploads.ts',
        find: '    await record(tools, known, decision);\n',
        replace: '',
      },
    ],
  },
  {
    id: 'names-in-every-unit',
    attack: 'a device gives two updates on one model, sealed to two epochs',
    without: 'a name that is free if only one of the live units knows it',
    learned: ['two updates of one device on one version are in sums'],
    async play(adversary) {
      const [a] = (await adversary.honestUploads(1)) as [Ctx];
      const [{ device, name }] = (await adversary.colluders(1)) as [Colluder];
      const isFirst = await adversary.close([a, name]);
      const [b] = await inSecondEpoch(adversary, 1);
      const { header } = adversary.upload(b as Ctx);
      const own = withOtherTag({ ...header, user: device.user });
      const second = await adversary.forge(device, own, adversary.ownParts(own));
      if ((await adversary.close([b as Ctx, second])) && isFirst)
        adversary.trace.broken.add('two updates of one device on one version are in sums');
    },
    edits: [
      {
        file: AUTHORITY,
        find: 'for (const { ctxOf } of units) {',
        replace: 'for (const { ctxOf } of units.slice(-1)) {',
      },
    ],
  },
  {
    id: 'names-in-their-own-unit',
    attack: 'the first of two epochs ends, and an upload of the second is put into another batch',
    without: 'names that are kept in the unit of another epoch',
    learned: ['x of U0 + x of U2', 'x of U1 - x of U2'],
    async play(adversary) {
      const [a, b, c] = (await inSecondEpoch(adversary, 3)) as [Ctx, Ctx, Ctx];
      await adversary.close([a, b]);
      for (let n = 0; n < 3; n++) await adversary.wait(0.45 * HOUR_MS);
      await adversary.close([a, c]);
    },
    edits: [
      {
        file: AUTHORITY,
        find: 'const unit = ownUnit(at, header) as Unit;',
        replace: 'const [unit] = at.units as [Unit];',
      },
    ],
  },
];

/** Uploads of honest devices, sealed to the epoch that opens while the first one is open. */
async function inSecondEpoch(adversary: Adversary, count: number): Promise<readonly Ctx[]> {
  await adversary.wait(SECOND_OPENS_MS);
  return adversary.honestUploads(count);
}
