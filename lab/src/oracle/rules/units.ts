/** Rules for the units of an authority: names live with the secret of their own epoch, and are recorded before a vote is signed. */
import { readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import type { Ctx } from '@basa/protocol';
import { ShownModel } from '@basa/protocol/wire';
import type { AuthorityParty } from '@basa/testkit/world/authority-party.ts';
import { type Adversary, type Colluder, withOtherTag } from '../adversary.ts';
import { COUNCIL, type Rule } from './rule.ts';

const UNITS = 'authority/src/units/units.ts';
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
    play: (adversary) => twoVotes(adversary, (party) => party.restart()),
    edits: [
      {
        file: 'authority/src/steps/shots.ts',
        find: '    await record(tools, known, decision);\n    return AuthorityRole.signVote',
        replace: '    return AuthorityRole.signVote',
      },
    ],
  },
  {
    id: 'names-after-a-start',
    attack: 'an authority starts again after its vote, and is asked to vote for another batch',
    without: 'a record that a start leaves out',
    learned: ['x of U0 + x of U2', 'x of U1 - x of U2'],
    play: (adversary) => twoVotes(adversary, (party) => party.restart()),
    edits: [{ file: UNITS, find: 'for (const record of others)', replace: 'for (const record of others.slice(1))' }],
  },
  {
    id: 'names-after-a-release',
    attack: 'an upload of a batch that is final is put into another one',
    without: 'names that are pruned when their batch is final',
    learned: ['x of U0 + x of U2', 'x of U1 - x of U2'],
    async play(adversary) {
      const [a, b, c] = (await adversary.honestUploads(3)) as [Ctx, Ctx, Ctx];
      await adversary.close([a, b]);
      await adversary.close([a, c]);
    },
    edits: [
      {
        file: UNITS,
        find: "if (kind === 'final') this.#final.add(toHex(ctx));",
        replace: "if (kind === 'final') { this.#final.add(toHex(ctx)); this.#names.clear(); return; }",
      },
    ],
  },
  {
    id: 'secret-with-its-names',
    attack: 'the disk of an authority loses the end of a unit, and the authority is asked to vote for another batch',
    without: 'a secret that survives its names',
    learned: ['x of U0 + x of U2', 'x of U1 - x of U2'],
    play: (adversary) => twoVotes(adversary, (party) => party.restart(() => cutUnits(party))),
    edits: [
      {
        file: 'authority/src/units/unit-file.ts',
        find: 'if (!isWhole || checksum !== bytes.readUInt32LE(this.#length + 4)) return undefined;',
        replace: 'if (!isWhole || checksum !== bytes.readUInt32LE(this.#length + 4)) break;',
      },
    ],
  },
  {
    id: 'named-authority',
    attack: 'an authority that the uploads do not name votes for two batches',
    without: 'votes of authorities that have no unit for the uploads',
    learned: ['x of U1 + x of U3', 'x of U2 - x of U3'],
    world: COUNCIL,
    async play(adversary) {
      const unnamed = adversary.honest.at(-1) as AuthorityParty;
      await adversary.give(await adversary.device(true));
      const { statement, epochs } = ShownModel.decode(adversary.kept.at(-1) as Uint8Array);
      const named = epochs.filter(({ authority }) => authority !== unnamed.index);
      adversary.shown = ShownModel.encode({ statement, epochs: named });
      const [a, b, c] = (await adversary.honestUploads(3)) as [Ctx, Ctx, Ctx];
      const [first, second] = adversary.honest as [AuthorityParty, AuthorityParty, AuthorityParty];
      for (const party of [first, unnamed]) await adversary.vote(party, [a, b]);
      for (const party of [second, unnamed]) await adversary.vote(party, [a, c]);
      for (const party of [first, second]) {
        await adversary.release(party, [a, b]);
        await adversary.release(party, [a, c]);
      }
    },
    edits: [
      {
        file: 'protocol/src/one-shot/parts.ts',
        find: "if (secret === undefined) return refused('epoch-over');",
        replace: "if (own === undefined) return [];\n  if (secret === undefined) return refused('epoch-over');",
      },
      {
        file: AUTHORITY,
        find: 'return own && units.find(',
        replace:
          'if (own === undefined) return { ...units[0], ctxOf: (name) => name, isFinal: () => true };\n  return units.find(',
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

/** Asks for a vote, lets something happen to the authority, and asks it for another vote with one of the same uploads. */
async function twoVotes(adversary: Adversary, between: (party: AuthorityParty) => Promise<unknown>): Promise<void> {
  const [a, b, c] = (await adversary.honestUploads(3)) as [Ctx, Ctx, Ctx];
  for (const party of adversary.honest) {
    await adversary.vote(party, [a, b]);
    await between(party);
    await adversary.vote(party, [a, c]);
    await adversary.release(party, [a, b]);
    await adversary.release(party, [a, c]);
  }
}

/** The last byte of every unit is lost, and with it the last record. */
function cutUnits({ units }: AuthorityParty): void {
  for (const name of readdirSync(units)) {
    const path = join(units, name);
    truncateSync(path, statSync(path).size - 1);
  }
}

/** Uploads of honest devices, sealed to the epoch that opens while the first one is open. */
async function inSecondEpoch(adversary: Adversary, count: number): Promise<readonly Ctx[]> {
  await adversary.wait(SECOND_OPENS_MS);
  return adversary.honestUploads(count);
}
