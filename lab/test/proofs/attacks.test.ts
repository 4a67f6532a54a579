/** The attack table of docs/threat-model.md, played with real cryptography against the real state machines. */

import { unsafeTransparentSealing } from '@basa/masking';
import { ENGINE } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { overAttributes, transparentPaperSealings, transparentSealings } from '@basa/simulator';
import { abeSealings, paperAbeSealings, slotKeySealings } from '@basa/virtual-time/real-sealings';
import { nodeEnvironment } from '@basa/virtual-time/simulation';
import { describe, expect, it } from 'vitest';
import type { Attack, AttackRefusal, AttackSetting } from '../../src/attacks/attack.ts';
import { ATTACK_WORDS } from '../../src/attacks/attack-words.ts';
import { ATTACKS } from '../../src/attacks/registry.ts';
import { linesOf } from '../../src/commands/attacks.ts';

/** `npm run lab -- attacks` plays all of them with CP-ABE as well. */
const WITH_ABE = new Set(['A1', 'D1', 'J1']);
const enginesFor = (id: string) =>
  Object.entries({ 'slot keys': slotKeySealings, ...(WITH_ABE.has(id) && { 'CP-ABE': abeSealings }) });
const settingOf = (sealings: AttackSetting['sealings']): AttackSetting => ({
  environment: nodeEnvironment,
  sealings,
  paperSealings: paperAbeSealings,
});

interface Expected {
  /** Against `paper`, or the mutant. */
  readonly learned: readonly string[];
  /** In `sealed`: whose no stops it, and how many keys and uploads the adversary has for all that. */
  readonly refusals: readonly string[];
  readonly held: readonly [keys: number, uploads: number];
}

const EXPECTED: Readonly<Record<string, Expected>> = {
  A1: { held: [4, 3], learned: ['x of U2'], refusals: ['authority slot-registered'] },
  A2: {
    held: [4, 3],
    learned: ['x of U0', 'x of U1', 'x of U2'],
    refusals: ['authority slot-registered', 'authority second-slot'],
  },
  B1: { held: [4, 4], learned: ['x of Ua - x of Ub'], refusals: ['authority slot-registered'] },
  B2: { held: [4, 4], learned: ['x of Ua'], refusals: ['authority slot-registered'] },
  C1: { held: [4, 4], learned: ['x of U2 before - x of U2'], refusals: ['user delta-committed'] },
  D1: {
    held: [0, 2],
    learned: ['x of U0', 'x of U1', 'x of U2'],
    refusals: [
      'authority slot-registered',
      'authority server-equivocated',
      'authority too-few',
      'authority close-mismatch',
    ],
  },
  D2: {
    held: [4, 3],
    learned: ['x of U2'],
    refusals: ['user inbox-incomplete', 'authority slot-registered', 'authority server-equivocated'],
  },
  E1: {
    held: [7, 6],
    learned: ['x of U2'],
    refusals: ['authority slot-registered', 'user abandoned', 'user buffer-not-open'],
  },
  G1: { held: [3, 3], learned: ['x of U2'], refusals: ['user descriptor-invalid'] },
  H1: { held: [3, 3], learned: [], refusals: ['authority policy-invalid', 'user descriptor-invalid'] },
  I1: {
    held: [4, 4],
    learned: ['x of V'],
    refusals: ['user outcome-invalid', 'user outcome-undecided', 'user delta-committed'],
  },
  J1: { held: [5, 4], learned: ['x of U0'], refusals: [] },
  K1: { held: [3, 3], learned: ['x of U2'], refusals: ['user zero-block'] },
  L1: { held: [3, 3], learned: ['x of U2 on entries 64 to 127'], refusals: ['user zero-block'] },
  M1: { held: [6, 6], learned: ['x of U2'], refusals: ['user model-stale'] },
  N1: { held: [4, 4], learned: ['x of V'], refusals: ['user delta-committed'] },
  O1: { held: [6, 9], learned: ['x of U2, cosine 1.0000'], refusals: ['user descriptor-version'] },
  P1: { held: [3, 4], learned: ['x of U2 - x of U3'], refusals: ['user version-given'] },
  Q1: { held: [0, 0], learned: ['no device connects', 'no device takes a seat', 'no update is freed'], refusals: [] },
  Q2: { held: [0, 0], learned: ['no buffer closes'], refusals: [] },
  Q3: { held: [0, 0], learned: ['the device never stops waiting'], refusals: [] },
  R1: { held: [4, 4], learned: ['x of V'], refusals: ['authority buffer-over'] },
  T1: {
    held: [0, 0],
    learned: ['stolen keys speak for the authorities of a device'],
    refusals: ['user term-late'],
  },
};

const said = ({ by, reason }: AttackRefusal): string => `${by} ${reason}`;

describe.each(ATTACKS)('$id ($schedule)', ({ id, mutant, broken, sealed }) => {
  it(`against ${mutant === undefined ? 'paper mode' : `a mutant of sealed (${mutant})`} learns what the table says`, () => {
    const result = broken(settingOf(slotKeySealings));
    expect(result.findings).toEqual(EXPECTED[id]?.learned);
    if (id === 'H1') expect(result.wrongSum?.got).not.toEqual(result.wrongSum?.expected);
    else expect(result.wrongSum).toBeUndefined();
  });

  it.each(enginesFor(id))(
    'against sealed mode with %s learns nothing: the user or the authority says no',
    (_, sealings) => {
      const result = sealed(settingOf(sealings));
      expect(result.findings).toEqual([]);
      expect(result.refusals.map(said)).toEqual(EXPECTED[id]?.refusals);
      expect([result.held.keys, result.held.uploads]).toEqual(EXPECTED[id]?.held);
    },
  );
});

describe('join tags that do not bind their user', () => {
  it('are caught a second time at close, which allows no tag twice', () => {
    const { tools } = nodeEnvironment;
    const [join, joinBytes, userStart, userEnd] = [64, 83, 35, 67];
    const blanked = (layout: Uint8Array): Uint8Array => layout.slice().fill(0, userStart, userEnd);
    const sha256: typeof nodeSuite.sha256 = (...parts) =>
      nodeSuite.sha256(...parts.map((part) => (part[2] === join && part.length === joinBytes ? blanked(part) : part)));
    const environment = { ...nodeEnvironment, tools: { ...tools, suite: { ...nodeSuite, sha256 } } };
    const J1 = ATTACKS.find(({ id }) => id === 'J1');
    const result = J1?.sealed({ ...settingOf(() => transparentSealings(nodeSuite)), environment });
    expect(result?.refusals.map(said)).toEqual(['authority duplicate-user']);
    expect(result?.findings).toEqual([]);
  });
});

describe('the adversary', () => {
  it('is asked about every attack of the table', () => {
    expect(ATTACKS.map(({ id }) => id)).toEqual(Object.keys(EXPECTED));
  });

  it('finds inputs in every sealed schedule in which it holds one key, if the sealing hides nothing', () => {
    const transparent = unsafeTransparentSealing({ seed: 32, attribute: 32, context: 70 });
    const sealing = { ...transparent, open: (sealed: Uint8Array) => sealed.slice(0, 32) };
    const { issuer } = transparentPaperSealings(nodeSuite);
    const setting = settingOf(() => overAttributes(nodeSuite, ENGINE.unsafeTransparent, { issuer, sealing }));
    const onUpdates = ATTACKS.filter(({ stoppedBy }) => stoppedBy === undefined);
    const blind = onUpdates.filter(({ sealed }) => sealed(setting).findings.length === 0);
    // In D1 nobody who holds a key colludes, and the authority releases none. In T1 the device takes no part.
    expect(blind.map(({ id }) => id)).toEqual(['D1', 'T1']);
  });
});

it('is printed in the words of the page Sees, and refusals as sentences', () => {
  const attack = ATTACKS[0] as Attack;
  const setting = settingOf(slotKeySealings);
  const lines = linesOf({ attack, broken: attack.broken(setting), sealed: { slotKeys: attack.sealed(setting) } });
  expect(lines.slice(0, 2)).toEqual([`\nA1  ${ATTACK_WORDS['A1']?.title}`, `    ${ATTACK_WORDS['A1']?.story}`]);
  expect(lines[2]).toBe(`    schedule: ${attack.schedule}`);
  expect(lines.slice(3)).toEqual([
    '    The paper’s protocol: the server learns the update of U2.',
    '    Sealed mode: the server learns nothing.',
    '      The authority refuses: The key of this slot was already issued for another request.',
  ]);
});
