import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { FROM_SOURCE } from '@basa/testkit/root.ts';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const EXPECTED: Readonly<Record<string, RegExp>> = {
  '01-three-users.ts': /check: the masks cancel and the sum is exact\n$/,
  '02-encrypt-a-file.ts':
    /Ana.* reads "(.|\n)*Dana.* policy-not-satisfied(.|\n)*check: only those who satisfy the policy can read\n$/,
  '03-a-drop-out.ts': /^sum: {3}1 0 1 1 /,
  '04-staleness.ts': /sum of weights: 2\.207\nweighted mean: {2}0\.45 {2}0\.55\n$/,
};

it('every example is run here', () => {
  expect(
    readdirSync(`${root}examples`)
      .filter((name) => name.endsWith('.ts'))
      .sort(),
  ).toEqual(Object.keys(EXPECTED).sort());
});

it.each(Object.entries(EXPECTED))('%s runs and prints the expected text', async (name, expected) => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [...FROM_SOURCE, `examples/${name}`], {
    cwd: root,
  });
  expect(stderr).toBe('');
  expect(stdout).toMatch(expected);
});
