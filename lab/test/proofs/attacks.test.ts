/** The attack table of docs/threat-model.md, played with real cryptography against the real state machines. */

import { REFUSALS } from '@basa/protocol';
import { paperAbeSealings } from '@basa/virtual-time/real-sealings';
import { nodeEnvironment } from '@basa/virtual-time/simulation';
import { describe, expect, it } from 'vitest';
import type { Attack, AttackSetting } from '../../src/attacks/attack.ts';
import { ATTACK_WORDS } from '../../src/attacks/attack-words.ts';
import type { AttackRefusal } from '../../src/attacks/judgement.ts';
import { ATTACKS } from '../../src/attacks/registry.ts';
import { linesOf } from '../../src/commands/attacks.ts';

const SETTING: AttackSetting = { environment: nodeEnvironment, paperSealings: paperAbeSealings };

interface Expected {
  /** Against `paper`. */
  readonly learned: readonly string[];
  /** In `one-shot`: the refusals that stop it. */
  readonly refusals: readonly string[];
}

const EXPECTED: Readonly<Record<string, Expected>> = {
  A1: { learned: ['x of U2'], refusals: ['authority upload-used', 'authority too-few-votes'] },
  A2: { learned: ['x of U0', 'x of U1', 'x of U2'], refusals: ['authority duplicate-user'] },
  B1: { learned: ['x of Ua - x of Ub'], refusals: ['authority upload-used', 'authority too-few-votes'] },
  B2: {
    learned: ['x of Ua'],
    refusals: ['authority body-mismatch', 'authority upload-used', 'authority too-few-votes'],
  },
  C1: { learned: ['x of U2 before - x of U2'], refusals: ['user version-given'] },
  D1: { learned: ['x of U0', 'x of U1', 'x of U2'], refusals: ['user epoch-invalid'] },
  D2: { learned: ['x of U2'], refusals: ['authority batch-invalid'] },
  E1: { learned: ['x of U2'], refusals: ['authority upload-used', 'authority too-few-votes'] },
  G1: { learned: ['x of U2'], refusals: ['user model-not-logged', 'authority batch-invalid'] },
  H1: { learned: [], refusals: ['authority policy-invalid'] },
  I1: { learned: ['x of V'], refusals: ['user version-given', 'authority too-few'] },
};

const said = ({ by, reason }: AttackRefusal): string => `${by} ${reason}`;

describe.each(ATTACKS)('$id ($schedule)', ({ id, paper, oneShot }) => {
  it('against paper mode learns what the table says', () => {
    const result = paper(SETTING);
    expect(result.findings).toEqual(EXPECTED[id]?.learned);
    if (id === 'H1') expect(result.wrongSum?.got).not.toEqual(result.wrongSum?.expected);
    else expect(result.wrongSum).toBeUndefined();
  });

  it('against one-shot mode learns the sum of a batch at most, because a device or an authority refuses', () => {
    const { findings, refusals, hasSum } = oneShot(SETTING);
    expect(findings).toEqual([]);
    expect(refusals.map(said)).toEqual(EXPECTED[id]?.refusals);
    expect(hasSum).toBe(true);
  });
});

it('every attack of the table is played', () => {
  expect(ATTACKS.map(({ id }) => id)).toEqual(Object.keys(EXPECTED));
});

it('is printed in the words of the page Sees, and refusals as sentences', () => {
  const attack = ATTACKS[0] as Attack;
  const lines = linesOf({ attack, paper: attack.paper(SETTING), oneShot: attack.oneShot(SETTING) });
  expect(lines.slice(0, 2)).toEqual([`\nA1  ${ATTACK_WORDS['A1']?.title}`, `    ${ATTACK_WORDS['A1']?.story}`]);
  expect(lines[2]).toBe(`    schedule: ${attack.schedule}`);
  expect(lines.slice(3)).toEqual([
    `    in one-shot mode: ${attack.inOneShot}`,
    '    The paper’s protocol: the server learns the update of U2.',
    '    One-shot mode: the server learns only the sum of a whole group.',
    `      The authority refuses: ${REFUSALS['upload-used'].sentence}`,
    `      The authority refuses: ${REFUSALS['too-few-votes'].sentence}`,
  ]);
});
