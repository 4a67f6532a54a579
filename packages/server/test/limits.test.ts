/** The page of limits has the numbers of the code. */
import { kitPolicy } from '@basa/conformance/kit-policy.ts';
import { MAX_AUTHORITIES, MAX_BATCH, MAX_POSITIONS } from '@basa/protocol/internal/wire/fields.ts';
import { policyProblem } from '@basa/protocol/internal/wire/policy.ts';
import { MAX_METRICS } from '@basa/protocol/internal/wire/training.ts';
import { readPage } from '@basa/testkit/pages/snippets.ts';
import { expect, it } from 'vitest';
import { MAX_SHARD_ELEMENTS } from '../src/closing/model-keeper.ts';
import { MAX_EXAMPLES_BYTES, MAX_FIRST_BYTES, MAX_SPECIFICATION_BYTES } from '../src/routes/tasks.ts';

const page = readPage('docs/limits.md');
const MIB = 1024 * 1024;
const MAX_DIMENSION = 2 ** 31;

it.each([
  ['parameters of a model', [MAX_DIMENSION]],
  ['first parameters (`--initial`)', [MAX_FIRST_BYTES / MIB, MAX_FIRST_BYTES / 4]],
  ['test set (`--test`)', [MAX_EXAMPLES_BYTES / MIB]],
  ['other settings of a task, in JSON', [MAX_SPECIFICATION_BYTES / MIB]],
  ['updates in a sum (K)', [MAX_BATCH, MAX_POSITIONS]],
  ['authorities of a task', [MAX_AUTHORITIES]],
  ['metrics of a task', [MAX_METRICS]],
])('%s', (what, limits) => {
  const row = page.split('\n').find((line) => line.startsWith(`| ${what} |`)) ?? '';
  expect(row.slice(what.length + 3).match(/\d[\d,]*/g)).toEqual(limits.map((limit) => limit.toLocaleString('en')));
});

it('the server works on parts of this size', () => {
  expect(page).toContain(`parts of ${MAX_SHARD_ELEMENTS.toLocaleString('en')} parameters`);
});

it('a policy with one parameter more is refused', () => {
  const key = new Uint8Array(32).fill(1);
  const policy = kitPolicy({ serverKey: key, authorityKeys: [key] });
  expect(policyProblem({ ...policy, dimension: MAX_DIMENSION + 1 })).toContain('dimension must be from 1 to 2^31');
});
