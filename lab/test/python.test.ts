/** What the Python client's page and notebook show, run as written. */
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { followNotebook, followOwnTraining } from '../src/python/page.ts';
import { hasModule, PYTHON } from '../src/python/python.ts';

const hasPython = spawnSync(PYTHON, ['--version']).status === 0 && hasModule('cryptography, numpy');

describe.skipIf(!hasPython)('in Python', () => {
  it('a model described by shapes is trained by a function, and with flat arrays', async () => {
    const parameters = await followOwnTraining();
    expect(parameters).toHaveLength(2);
    for (const value of parameters) expect(value).toBeGreaterThan(0.1);
  });

  it('the notebook trains a model', async () => expect(await followNotebook()).toBeGreaterThan(90));
});
