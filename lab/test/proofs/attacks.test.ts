/** The attack table of docs/threat-model.md, played with real cryptography against the real state machines. */

import { REFUSALS } from '@basa/protocol';
import { ATTACK_WORDS, ATTACKS, type Attack, type AttackSetting } from '@basa/simulator/attacks';
import { nodeEnvironment } from '@basa/simulator/node';
import { paperAbeSealings } from '@basa/simulator/real-sealings';
import { describe, expect, it } from 'vitest';
import { linesOf } from '../../src/commands/attacks.ts';
import { playOnOneShot } from '../../src/oracle/paper-attacks.ts';

const SETTING: AttackSetting = { environment: nodeEnvironment, paperSealings: paperAbeSealings };

/** Against `paper`. */
const LEARNED: Readonly<Record<string, readonly string[]>> = {
  A1: ['x of U2'],
  A2: ['x of U0', 'x of U1', 'x of U2'],
  B1: ['x of Ua - x of Ub'],
  B2: ['x of Ua'],
  C1: ['x of U2 before - x of U2'],
  D1: ['x of U0', 'x of U1', 'x of U2'],
  D2: ['x of U2'],
  E1: ['x of U2'],
  G1: ['x of U2'],
  H1: [],
  I1: ['x of V'],
};

describe.each(ATTACKS)('$id ($schedule)', ({ id, paper, stoppedBy }) => {
  it('against paper mode learns what the table says', () => {
    const result = paper(SETTING);
    expect(result.findings).toEqual(LEARNED[id]);
    if (id === 'H1') expect(result.wrongSum?.got).not.toEqual(result.wrongSum?.expected);
    else expect(result.wrongSum).toBeUndefined();
  });

  it('against one-shot mode learns the sum of a batch at most, because a device or an authority refuses', async () => {
    const { findings, refusals, hasSum } = await playOnOneShot(id);
    expect(findings).toEqual([]);
    expect(refusals).toEqual(stoppedBy);
    expect(hasSum).toBe(true);
  });
});

it('every attack of the table is played', () => {
  expect(ATTACKS.map(({ id }) => id)).toEqual(Object.keys(LEARNED));
});

it('is printed in the words of the page Sees, and refusals as sentences', async () => {
  const attack = ATTACKS[0] as Attack;
  const lines = linesOf({ attack, paper: attack.paper(SETTING), oneShot: await playOnOneShot(attack.id) });
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
