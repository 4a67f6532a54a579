/** Rules for the sealed parts of an upload: copied, replaced, dealt apart, opened by an authority, or told by an inspection. */
import { toHex } from '@basa/masking';
import { guardWordsOf } from '@basa/protocol/internal/wire/input.ts';
import { isHolder, taskParts } from '@basa/protocol/internal/wire/one-shot-policy.ts';
import { type Adversary, type Colluder, withOtherTag } from '../adversary.ts';
import { COUNCIL, type Rule } from './rule.ts';

const EXAMINE = 'protocol/src/one-shot/parts.ts';
const SEALING = 'protocol/src/one-shot/parts.ts';
const HYBRID = { sealing: 'x25519+mlkem768', tolerated: 1 } as const;

export const PART_RULES: readonly Rule[] = [
  {
    id: 'bound-parts',
    attack: "a colluder's upload has the sealed part of a victim",
    without: 'a part that is not bound to its device',
    learned: ['x of U0'],
    world: { policy: { minimum: 3 } },
    async play(adversary) {
      const [victim] = await adversary.honestUploads(1);
      const [first, second, third] = (await adversary.colluders(3)) as [Colluder, Colluder, Colluder];
      const header = withOtherTag(adversary.upload(first.name).header);
      const forged = await adversary.forge(first.device, header, adversary.upload(victim as Colluder['name']));
      await adversary.close([forged, second.name, third.name]);
    },
    edits: [
      { file: SEALING, find: 'salt: suite.sha256(context), ', replace: 'salt: new Uint8Array(32), ' },
      { file: SEALING, find: ', context };', replace: ', context: Uint8Array.of(part) };' },
      {
        file: SEALING,
        find: 'salt: partContextCodec.hash(suite, { ...pick(name), part })',
        replace: 'salt: suite.sha256(Uint8Array.of(part))',
      },
    ],
  },
  {
    id: 'signed-parts',
    attack: 'the server replaces the parts of all uploads but one with its own',
    without: 'sealed parts that are not compared with the signed header',
    learned: ['x of U0'],
    async play(adversary) {
      const names = await adversary.honestUploads(3);
      for (const party of adversary.honest) await adversary.vote(party, names);
      const own = names.slice(1).map((name) => [toHex(name), adversary.ownParts(adversary.upload(name).header).sealed]);
      const sealed = new Map(own as [string, Uint8Array][]);
      for (const party of adversary.honest) await adversary.release(party, names, { sealed });
    },
    edits: [
      {
        file: EXAMINE,
        find: 'return hash !== undefined && equalBytes(hash, partsHash) ?',
        replace: 'return hash !== undefined && hash.length === partsHash.length ?',
      },
    ],
  },
  {
    id: 'one-part-is-hidden',
    attack: 'an authority that colludes with the server opens every part that it holds',
    without: 'parts that every authority holds',
    learned: ['x of U0', 'x of U1'],
    world: COUNCIL,
    play: (adversary) => adversary.honestUploads(2),
    edits: [
      {
        file: 'protocol/src/wire/one-shot-policy.ts',
        find: 'if (tolerated === 0) return [0];',
        replace: 'return [0];',
      },
    ],
  },
  {
    id: 'objective-parts',
    attack: 'a colluder deals a part that only some holders can open',
    without: 'a holder that compares only its own copy of a seed',
    learned: ['honest holders of a part disagree about it: good, bad'],
    world: COUNCIL,
    play: dealtApart,
    edits: [
      {
        file: 'masking/src/holder-sealing.ts',
        find: 'isSame = copy !== undefined && equalBytes(copy, copyOf(sealed, other));',
        replace: 'isSame = copy !== undefined;',
      },
    ],
  },
  {
    id: 'objective-hybrid-parts',
    attack: 'a colluder deals a part with ML-KEM that only some holders can open',
    without: 'copies with ML-KEM that are not compared',
    learned: ['honest holders of a part disagree about it: good, bad'],
    world: { ...COUNCIL, oneShot: HYBRID },
    play: dealtApart,
    edits: [
      {
        file: 'masking/src/hybrid-sealing.ts',
        find: 'if (equalBytes(again as Uint8Array, sealed)) return seed;',
        replace: 'if (equalBytes((again as Uint8Array).subarray(0, 32), sealed.subarray(0, 32))) return seed;',
      },
    ],
  },
  {
    id: 'guard-words-only',
    attack: 'the server reads the answers of authorities that inspect an upload',
    without: 'an inspection that tells more than the guard words',
    learned: ['more than the guard words is told'],
    async play(adversary) {
      const names = await adversary.honestUploads(1);
      const guards = names.flatMap((name) =>
        adversary.upload(name).masks.map(({ words }) => guardWordsOf(words).join()),
      );
      for (const party of adversary.honest) {
        const answer = await adversary.inspect(party, names);
        const told = answer?.verdicts.flatMap((verdict) => verdict.guards.map(({ words }) => words.join())) ?? [];
        if (told.some((words) => !guards.includes(words)))
          adversary.trace.broken.add('more than the guard words is told');
      }
    },
    edits: [
      {
        file: EXAMINE,
        find: 'const words = [...guardWordsOf(Uint32Array.of(...start, ...end))];',
        replace: 'const words = [...guardWordsOf(Uint32Array.of(...start.subarray(1), ...end))];',
      },
    ],
  },
];

/** The copy for one holder of the last part differs from the others. All holders of the part must judge it the same. */
async function dealtApart(adversary: Adversary): Promise<void> {
  const [{ device, name }] = (await adversary.colluders(1)) as [Colluder];
  const { header } = adversary.upload(name);
  const { seeds } = adversary.upload(name);
  const sealed = adversary.upload(name).sealed.slice();
  sealed[sealed.length - 1] = (sealed.at(-1) as number) ^ 1;
  const forged = await adversary.forge(device, header, { sealed, seeds });
  const part = taskParts(adversary.policy).at(-1) as number;
  const said: (string | undefined)[] = [];
  for (const party of adversary.honest.filter(({ index }) => isHolder(part, index)))
    said.push((await adversary.inspect(party, [forged]))?.verdicts[0]?.verdict);
  if (new Set(said).size > 1)
    adversary.trace.broken.add(`honest holders of a part disagree about it: ${said.join(', ')}`);
}
