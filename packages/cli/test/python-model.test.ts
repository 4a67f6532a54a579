/** `basa simulate model.py`, and the project of `basa new --template pytorch`. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { basaHere, lastLine } from '@basa/testkit/programs/basa.ts';
import { afterAll, describe, expect, it } from 'vitest';
import { words } from './support/words.ts';

const PYTHON = process.env['BASA_PYTHON'] ?? 'python3';
const has = (modules: string): boolean => spawnSync(PYTHON, ['-c', `import ${modules}`]).status === 0;
const folder = mkdtempSync(join(tmpdir(), 'basa-python-model-'));
afterAll(() => rmSync(folder, { recursive: true }));

const MODEL = `import numpy as np
import basa

network = basa.Network.of_shapes("corners", {"weights": (3, 4), "bias": (3,)})
training = {"epochs": 2, "batchSize": 8, "learningRate": 0.3}

def of(seed, count):
    labels = np.arange(count) % 3
    features = np.eye(4)[labels] + 0.3 * np.random.default_rng(seed).normal(size=(count, 4))
    softmax = basa.SoftmaxTrainer(labels, features)
    return basa.FunctionTrainer(softmax.train, network, softmax.evaluate)

def trainer(device, devices):
    print("what a file prints is not an answer")
    return of(1 + device, 30)

def test():
    return of(0, 300)
`;
const SMALL = words`--devices 6 --versions 6 --buffer 3 --compute 1 --out ${join(folder, 'simulated')}`;

async function simulated(name: string, text: string, ...more: readonly string[]) {
  const file = join(folder, name);
  writeFileSync(file, text);
  return { file, ...(await basaHere(['simulate', file, ...SMALL, ...more])) };
}

describe.skipIf(!has('numpy, cryptography'))('a model.py', () => {
  it('is trained by virtual devices, and gets the clip that was measured', async () => {
    const { file, out } = await simulated('model.py', MODEL, '--json');
    const { runs, medianNorm } = lastLine(out) as { runs: { last: { accuracy: number } }[]; medianNorm: number };
    expect(runs[0]?.last.accuracy).toBeGreaterThan(0.9);
    expect(readFileSync(file, 'utf8')).toMatch(new RegExp(`\n# C: .*\nclip = ${medianNorm}\n$`));
  });

  it.each([
    ['without a trainer', 'import basa\n', 'needs a function trainer(device, devices)'],
    [
      'without a network',
      MODEL.replace('softmax.train, network', 'softmax.train, None'),
      'the trainer names no network',
    ],
    ['without scores', MODEL.replace(', softmax.evaluate', ''), 'versions are scored by evaluate'],
    ['with a fault', MODEL.replace('    return of(1', '    return nothing(1'), 'model.py, line 15: NameError'],
    ['that ends', `${MODEL}\nimport os\nos._exit(3)\n`, 'the program ended with code 3'],
  ])('%s is an error of one sentence', async (_, text, says) => {
    const { code, errors } = await simulated('model.py', text);
    expect(errors).toContain(says);
    expect(errors).not.toContain('Traceback');
    expect(code).toBe(2);
  });
});

describe('the template pytorch', () => {
  const project = join(folder, 'project');

  it('has programs that Python can read', async () => {
    expect((await basaHere(['new', project, '--template', 'pytorch'])).code).toBe(0);
    for (const file of ['model.py', 'create_task.py', 'device.py'])
      expect(spawnSync(PYTHON, ['-m', 'py_compile', join(project, file)]).stderr.toString()).toBe('');
    expect(readFileSync(join(project, 'README.md'), 'utf8')).not.toMatch(/my-network|\.ts\b/);
  });

  it.skipIf(!has('torch, cryptography'))('trains its module in a simulation', async () => {
    const { out } = await basaHere(['simulate', join(project, 'model.py'), ...SMALL, '--json']);
    const { runs } = lastLine(out) as { runs: { last: { accuracy: number } }[] };
    expect(runs[0]?.last.accuracy).toBeGreaterThan(0.8);
  });
});
