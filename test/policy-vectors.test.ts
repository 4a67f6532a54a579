/** conformance/vectors/policies.json: what must be refused is refused, what must be accepted is accepted, and floors are held. */
import { readFileSync } from 'node:fs';
import { floorProblem } from '@basa/client/internal/device/floor.ts';
import { DecodeError, toHex } from '@basa/masking';
import { millis } from '@basa/protocol';
import { epsilonAfter } from '@basa/protocol/internal/wire/privacy.ts';
import { reportWords, windowAt, windowStatement } from '@basa/protocol/internal/wire/statistics.ts';
import { isSealing, policyProblem, TaskPolicy, taskIdOf } from '@basa/protocol/policy';
import { modelNameOf } from '@basa/protocol/wire';
import { nodeSuite } from '@basa/runtime/node';
import type { PolicyRefusal, PolicyVectors } from '@basa/testkit/vectors/policies.ts';
import { expect, it } from 'vitest';

const vectors = JSON.parse(
  readFileSync(new URL('../conformance/vectors/policies.json', import.meta.url), 'utf8'),
) as PolicyVectors;

it('every policy that must be refused is refused for its reason', () => {
  const wrong = vectors.refused.filter(({ policy, refusal }) => verdict(policy) !== refusal);
  expect(wrong.map(({ why, policy }) => [why, verdict(policy)])).toEqual([]);
});

it('every policy that must be accepted is accepted', () => {
  expect(vectors.accepted.filter(({ policy }) => verdict(policy) !== undefined).map(({ what }) => what)).toEqual([]);
});

it('a policy of paper mode can be used exactly if the vectors say so', () => {
  const wrong = vectors.paper.filter(({ policy, isUsable }) => (verdict(policy) === undefined) !== isUsable);
  expect(wrong.map(({ what, policy }) => [what, verdict(policy)])).toEqual([]);
});

it('a policy is below a floor exactly if the vectors say so', () => {
  const isBelow = vectors.floors.map(
    ({ floor, policy }) => floorProblem(floor, TaskPolicy.decode(bytes(policy))) !== undefined,
  );
  expect(isBelow).toEqual(vectors.floors.map((one) => one.isBelow));
});

it('every budget is the epsilon of the vectors', () => {
  const others = vectors.budgets.filter(({ epsilon, ...budget }) => {
    return !(Math.abs(epsilonAfter({ privacy: budget, metrics: [] }, budget) - epsilon) <= 1e-9 * epsilon);
  });
  expect(others).toEqual([]);
});

it('every report has the words and the window of the vectors', () => {
  expect(vectors.reports.length).toBeGreaterThan(10);
  for (const { policy, report, now, ...expected } of vectors.reports) {
    const decoded = TaskPolicy.decode(bytes(policy));
    const { statistics = expect.fail() } = decoded;
    const { words, outside } = reportWords(statistics.fields, report);
    const window = windowAt(statistics, millis(now));
    const name = modelNameOf(nodeSuite, windowStatement(taskIdOf(nodeSuite, decoded), statistics, window));
    expect({ words: [...words], outside, window, model: toHex(name) }).toEqual(expected);
  }
});

/** As a device judges it, in the order of `connect`. */
function verdict(hex: string): PolicyRefusal | undefined {
  try {
    const policy = TaskPolicy.decode(bytes(hex));
    if (policyProblem(policy) !== undefined) return 'unusable-policy';
    return isSealing(policy) ? undefined : 'unsafe-engine';
  } catch (error) {
    if (error instanceof DecodeError) return 'malformed';
    throw error;
  }
}

function bytes(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex, 'hex'));
}
