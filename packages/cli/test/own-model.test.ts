/** The way of a model of one's own, as a newcomer types it: a new project, a simulation, a task, three devices, files for other tools. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { decodeSafetensors } from '@basa/learning';
import { AUTHORITY_PATH } from '@basa/protocol/http';
import { TaskPolicy } from '@basa/protocol/policy';
import { readPage, snippetsOf } from '@basa/testkit/pages/snippets.ts';
import type { Running } from '@basa/testkit/processes/start.ts';
import { basaHere, enrolHere, lastLine } from '@basa/testkit/programs/basa.ts';
import { start } from '@basa/testkit/programs/basa-process.ts';
import { exportsOf, shellBlocksIn, stepsIn } from '@basa/testkit/programs/typed.ts';
import { ROOT } from '@basa/testkit/root.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadOwnModel } from '../src/flags/models.ts';
import { sourcesOf, TOOLS } from '../src/project/new.ts';
import { words } from './support/words.ts';

const folder = mkdtempSync(join(tmpdir(), 'basa-own-test-'));
afterAll(() => rmSync(folder, { recursive: true }));
const inProject = (template: string): string => join(folder, template);
const read = (template: string, file: string): string => readFileSync(join(inProject(template), file), 'utf8');
interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}
const TEMPLATES = ['node', 'tfjs', 'browser'] as const;

/** Returns the output of a project's script, started as its README says. */
async function npm(template: string, script: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const env = { ...process.env, NODE_OPTIONS: '', ...environment };
  const { stdout } = await promisify(execFile)('npm', ['run', '--silent', ...script], {
    cwd: inProject(template),
    env,
  });
  return stdout;
}

beforeAll(async () => {
  for (const template of TEMPLATES)
    expect((await basaHere(['new', inProject(template), '--template', template])).code).toBe(0);
});

describe('`basa new`', () => {
  it('writes projects that compile, each as its own settings say, which are the same in all', async () => {
    const [settings, ...others] = TEMPLATES.map((template) => read(template, 'tsconfig.json'));
    for (const other of others) expect(other).toBe(settings);
    for (const template of TEMPLATES) expect(read(template, 'package.json')).toContain('"check": "tsc -p ."');
    const together = { ...(JSON.parse(settings ?? '') as object), include: TEMPLATES.map((name) => `${name}/*.ts`) };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(together));
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    const { stdout } = await promisify(execFile)(tsc, ['-p', folder, '--listFiles']);
    for (const template of TEMPLATES) expect(stdout).toContain(`${template}/model.ts\n`);
  });

  it('lists the files that it wrote and the next commands', async () => {
    const { out } = await basaHere(['new', join(folder, 'another')]);
    expect(out).toContain('model.ts');
    expect(out).toMatch(/cd .*another\n(.*\n)*.*npm run simulate/);
  });

  it.each(TEMPLATES)('keeps the keys of devices out of git: %s', async (template) => {
    const git = (...typed: readonly string[]) => promisify(execFile)('git', typed, { cwd: inProject(template) });
    await git('init', '--quiet');
    const secret = ['task.json', 'devices/'];
    expect((await git('check-ignore', '--', ...secret)).stdout.trim().split('\n')).toEqual(secret);
  });

  it.each(TEMPLATES)('has a device that tells why it waits: %s', (template) => {
    expect(read(template, 'device.ts')).toMatch(/client\.on\('waiting', .*gatheringText\(gathering\)/);
  });

  it('writes over nothing', async () => {
    const before = readdirSync(inProject('node'));
    const { code, errors } = await basaHere(['new', inProject('node')]);
    expect([code, errors]).toEqual([2, expect.stringContaining('is not empty')]);
    expect(readdirSync(inProject('node'))).toEqual(before);
  });

  it.each(TEMPLATES)('names our packages of a clone by their folders, which `npm install` keeps: %s', (template) => {
    const { dependencies, devDependencies } = JSON.parse(read(template, 'package.json')) as Manifest;
    const ours = Object.entries(dependencies).filter(([name]) => name.startsWith('@basa/'));
    expect(ours.length).toBeGreaterThan(0);
    for (const [name, source] of ours)
      expect(resolve(inProject(template), source.replace(/^file:/, ''))).toBe(join(ROOT, 'packages', name.slice(6)));
    expect(devDependencies).toHaveProperty('typescript'); // `npm run check` types it
  });

  it('asks for the versions of other packages that this repository is tested with', () => {
    const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
    expect({ ...manifest.dependencies, ...manifest.devDependencies }).toMatchObject(TOOLS);
  });

  describe('from installed packages names ours', () => {
    const [root, project] = ['/home/ann', '/home/ann/work/project'];
    const tarball = { resolved: 'file:tarballs/basa-client-0.3.0.tgz', version: '0.3.0' };
    const registry = { resolved: 'https://registry.npmjs.org/@basa/learning/-/learning-0.3.0.tgz', version: '0.3.0' };
    const packages = {
      'node_modules/@basa/client': tarball,
      'node_modules/@basa/learning': registry,
      'node_modules/undici': { resolved: 'file:undici.tgz' },
    };

    it('by the files that npm installed them from, or by version if they came from a registry', () => {
      expect(sourcesOf({ packages }, root, project, () => true)).toEqual({
        '@basa/client': 'file:../../tarballs/basa-client-0.3.0.tgz',
        '@basa/learning': '0.3.0',
      });
    });

    it('in no such way if a file is gone, or if npm kept no account: then they are linked', () => {
      expect(sourcesOf({ packages }, root, project, () => false)).toBeUndefined();
      expect(sourcesOf(undefined, root, project)).toBeUndefined();
    });
  });

  it('makes the folder in the current folder, also through `npm run`, and quotes its name', async () => {
    const typed = { npm_command: 'run-script', INIT_CWD: folder };
    const { out } = await basaHere(['new', 'by npm'], typed);
    expect(existsSync(join(folder, 'by npm/model.ts'))).toBe(true);
    expect(stepsIn(out)).toEqual(['cd "by npm"', 'npm run simulate']);
  });

  it('knows no other template', async () => {
    expect((await basaHere(['new', join(folder, 'x'), '--template', 'rust'])).errors).toContain('node, browser, tfjs');
    expect(existsSync(join(folder, 'x'))).toBe(false);
  });
});

const LEARNING = JSON.stringify(pathToFileURL(join(ROOT, 'packages/learning/src/index.ts')).href);
const points = (inputs: string, channels = 4): string =>
  `{ name: 'points', shape: { height: 1, width: 1, channels: ${channels} }, classes: 2, inputs: new Float32Array(${inputs}), labels: Int32Array.of(0, 1) }`;
const net = (outputs: number): string =>
  `import { defineModel, dense } from ${LEARNING}; export const model = defineModel('net', { height: 1, width: 1, channels: 4 }, [dense(${outputs})]);`;
const giving = (dataset: string, indices = '0, 1'): string =>
  `export const data = () => ({ dataset: ${dataset}, indices: Uint32Array.of(${indices}) });`;
const trainer = (parts: Readonly<Record<string, string>>): string => {
  const all = {
    init: '() => new Float32Array(5)',
    train: '() => ({ delta: new Float32Array(5).fill(0.1), loss: 1, samples: 2 })',
    evaluate: '() => ({ loss: 1, samples: 2, perplexity: 12.5 })',
    ...parts,
  };
  const lines = Object.entries(all).map(([name, code]) => `${name}: ${code}`);
  return `${net(1)} export const trainer = () => ({ name: 'mine', model, ${lines.join(', ')} }); ${giving(points('8'))}`;
};

/** Models of one's own that cannot be trained, each for another reason. */
const WRONG: Readonly<Record<string, string>> = {
  nobody: `${net(2)} ${giving(points('8'), '')}`,
  untested: trainer({ evaluate: 'undefined' }),
  scoreless: trainer({ evaluate: '() => ({ loss: 1, samples: 2 })' }),
  short: trainer({ train: '() => ({ delta: new Float32Array(3), loss: 1, samples: 2 })' }),
  diverged: trainer({ train: '() => ({ delta: new Float32Array(5).fill(NaN), loss: 1, samples: 2 })' }),
  huber: `${net(1)} export const training = { loss: 'huber' }; ${giving(points('8'))}`,
  beyond: `${net(2)} ${giving(points('8'), '9')}`,
  nan: `${net(2)} ${giving(points('[0, NaN, 0, 0, 0, 0, 0, 0]'))}`,
  shapes: `${net(2)} ${giving(points('8'))} export const test = () => (${points('6', 3)});`,
  outputs: `${net(2)} export const training = { loss: 'mse' }; ${giving(points('8'))}`,
};

/** A service that does not exist: no answer is needed to refuse. */
const NOWHERE = words`--server http://127.0.0.1:9 --authority http://127.0.0.1:9 --token none --authority-token none`;

describe('`basa simulate`', () => {
  const small = words`--devices 6 --versions 10 --compute 1 --drop-out 10 --json`;
  const simulate = (template: string, ...more: readonly string[]) =>
    basaHere([
      ...words`simulate ${join(inProject(template), 'model.ts')} --out ${join(folder, 'simulated')}`,
      ...small,
      ...more,
    ]);

  it('trains the model of a new project under several protocols, and writes curve, plot and model', async () => {
    const { code, out, errors } = await simulate('node', '--protocol', 'none,paper,one-shot,one-shot-3-of-4,secagg');
    expect([code, errors]).toEqual([0, expect.stringContaining('6 devices, 6 at a time, K = 6, 10 versions')]);
    type Run = { protocol: string; partySums: number; versionsInASum: string; last: { accuracy: number } };
    const { runs } = lastLine(out) as { runs: Run[] };
    expect(runs.map(({ protocol, partySums, versionsInASum }) => [protocol, partySums, versionsInASum])).toEqual([
      ['none', 0, 'mixed'],
      ['paper', 1, 'mixed'],
      ['one-shot', 1, 'one'],
      ['one-shot-3-of-4', 1, 'one'],
      ['secagg', 1, 'one'],
    ]);
    for (const { last } of runs) expect(last.accuracy).toBeGreaterThan(0.8);
    const lines = readFileSync(join(folder, 'simulated/curve.csv'), 'utf8').trimEnd().split('\r\n');
    expect(lines[0]).toBe('protocol,version,seconds,accuracy,loss,trainLoss,updates');
    expect(lines).toHaveLength(1 + 50);
    expect(readFileSync(join(folder, 'simulated/accuracy.svg'), 'utf8')).toMatch(/^<svg .*paper/s);
    const { model } = await loadOwnModel(join(inProject('node'), 'model.ts'));
    const written = decodeSafetensors(model, readFileSync(join(folder, 'simulated/model.safetensors')));
    expect(written.every(Number.isFinite)).toBe(true);
  });

  it('measures the median norm of first updates, and writes it into a model file without a clip', async () => {
    const file = join(inProject('node'), 'model.ts');
    const median = async (): Promise<unknown> => lastLine((await simulate('node')).out)['medianNorm'];
    const first = await median();
    expect((await loadOwnModel(file)).clip).toBe(0.42); // of the template
    expect(first).toBeGreaterThan(0.3);
    expect(first).toBeLessThan(1.2);
    const own = join(inProject('node'), 'own.ts');
    const written = readFileSync(file, 'utf8');
    writeFileSync(own, written.replace(/export const clip = .*\n/, ''));
    const created = await basaHere(['task', 'create', '--model', own, ...NOWHERE]);
    expect(created.errors).toContain(`run \`basa simulate ${own}\`, which measures the median norm`);
    const { out, errors } = await basaHere(['simulate', own, '--out', join(folder, 'simulated'), ...small]);
    expect(errors).toContain(`median norm of ${first}; wrote it into ${own}`);
    expect(lastLine(out)['medianNorm']).toBe(first);
    expect(readFileSync(own, 'utf8')).toMatch(new RegExp(`export const clip = ${first};\n$`));
    const withClip = (name: string, clip: number): string => {
      const other = join(inProject('node'), name); // a module is loaded once
      writeFileSync(other, written.replace(/export const clip = .*\n/, `export const clip = ${clip};\n`));
      return other;
    };
    const long = withClip('long.ts', 9);
    const again = await basaHere(['simulate', long, '--out', join(folder, 'simulated'), ...small]);
    expect(again.errors).toContain('clips to 9; lower it to');
    expect(readFileSync(long, 'utf8')).toContain('export const clip = 9;');
    const wrong = await basaHere(['simulate', withClip('wrong.ts', 0)]);
    expect(wrong.errors).toContain('`clip` that is not a positive number');
  });

  it('runs several seeds with their interval, rounds that end early, and the step of the server that was asked for', async () => {
    const file = join(inProject('node'), 'model.ts');
    const rest = words`--protocol none,secagg --devices 8 --at-a-time 6 --buffer 3 --versions 2 --compute 1 --seeds 2 --json`;
    const simulated = async (...more: readonly string[]) => {
      const { code, out, errors } = await basaHere([
        'simulate',
        file,
        '--out',
        join(folder, 'seeds'),
        ...rest,
        ...more,
      ]);
      expect([code, errors]).toEqual([0, expect.stringMatching(/protocol +seeds +accuracy, % +virtual seconds/)]);
      const { runs } = lastLine(out) as {
        readonly runs: readonly { protocol: string; seed: number; last: { seconds: number; loss: number } }[];
      };
      expect(runs.map(({ protocol, seed }) => `${protocol} ${seed}`)).toEqual([
        'none 1',
        'none 2',
        'secagg 1',
        'secagg 2',
      ]);
      return runs.map(({ last }) => last);
    };
    const [plain, , waiting] = await simulated();
    const [changed, , early] = await simulated(...words`--server-rate 0.1 --damping none --first 5`);
    expect(changed?.loss).not.toBe(plain?.loss);
    expect(early?.seconds).toBeLessThan(waiting?.seconds as number);
    const [adam] = await simulated('--adam', '--server-rate', '0.1');
    expect(adam?.loss).not.toBe(changed?.loss);
  });

  it('shows the score of a trainer of your own by its name, whatever its loss', async () => {
    const step =
      '({ samples }) => ({ delta: Float32Array.from({ length: 5 }, () => Math.random()), loss: 1, samples: 2 })';
    writeFileSync(join(folder, 'own.mjs'), trainer({ train: step, loss: "'likelihood'" }));
    const out = join(folder, 'own-score');
    const { code, errors } = await basaHere(['simulate', join(folder, 'own.mjs'), ...small, '--out', out]);
    expect([code, errors]).toEqual([0, expect.stringContaining('perplexity 12.5 after')]);
    expect(readFileSync(join(out, 'curve.csv'), 'utf8')).toMatch(/^protocol,version,seconds,perplexity,loss,/);
    expect(existsSync(join(out, 'perplexity.svg'))).toBe(true);
  });

  it.each([
    ['nothing.ts does not exist', ['nothing.ts']],
    ['name a model file', []],
    ['--protocol takes one or several of none, paper', ['node/model.ts', '--protocol', 'magic']],
    ['--delay takes none, exponential', ['node/model.ts', '--delay', 'exponential']],
    ['raise --at-a-time', words`node/model.ts --protocol secagg --devices 3 --drop-out 20`],
    ['must export `model`', ['empty.mjs']],
    ['must export `data`', ['alone.mjs']],
    ['cannot be loaded: that one failed', ['failing.mjs']],
    ['is not a module', ['net.json']],
    ['data of device 0 of 20: there are no examples; use fewer devices', ['nobody.mjs']],
    ['the object that `trainer` returns has no function `evaluate`', ['untested.mjs']],
    ['evaluate() of the trainer must return loss, samples and a score', ['scoreless.mjs']],
    ['returned an update of 3 numbers, but the model has 5 parameters', ['short.mjs']],
    ['number 0 of the first update is NaN; lower the learning rate, or check the data', ['diverged.mjs']],
    ['there is no loss "huber"; use softmaxCrossEntropy', ['huber.mjs']],
    ['there is no example 9; points has 2', ['beyond.mjs']],
    ['data of device 0 of 20: points: input 1 of example 0 is NaN; remove the example', ['nan.mjs']],
    ['test: points: examples are 1 x 1 x 3, but net takes 1 x 1 x 4', ['shapes.mjs']],
    ['net has 2 outputs, but the loss mse needs one; end the network with dense(1)', ['outputs.mjs']],
  ])('says in a sentence what is wrong: %s', async (sentence, [file, ...more]) => {
    const model = "export const model = { name: 'm', dimension: 1, manifest: [], layers: [] };";
    writeFileSync(join(folder, 'empty.mjs'), '');
    writeFileSync(join(folder, 'alone.mjs'), model);
    writeFileSync(join(folder, 'failing.mjs'), "throw new Error('that one failed');");
    writeFileSync(join(folder, 'net.json'), '{}');
    for (const [name, code] of Object.entries(WRONG)) writeFileSync(join(folder, `${name}.mjs`), code);
    const named = file === undefined ? [] : [join(folder, file)];
    const { code, errors } = await basaHere(['simulate', ...named, ...more]);
    expect([code, errors]).toEqual([2, expect.stringContaining(sentence)]);
  });
});

describe('with `basa dev` in one terminal, another', () => {
  let dev: Running;
  let environment: Record<string, string>;
  const type = (...args: readonly string[]) => basaHere(args, environment);
  const reached = async (task: string): Promise<Record<string, unknown>> => {
    let shown: Record<string, unknown> = {};
    const version = async (): Promise<unknown> => {
      shown = { ...lastLine((await type('task', 'show', task, '--json')).out) };
      return shown['version'];
    };
    await expect.poll(version).toBeGreaterThanOrEqual(1);
    return shown;
  };

  beforeAll(async () => {
    dev = start(words`dev --folder ${join(folder, 'dev')} --devices 0 --buffer 3 --server-port 0 --authority-port 0`);
    environment = exportsOf(await dev.said('Ctrl-C stops everything'));
  });
  afterAll(async () => {
    dev.child.kill('SIGINT');
    expect((await dev.ended).code).toBe(0);
  });

  it.each(['node', 'tfjs'])('goes through the README of a new project to an opened sum: %s', async (template) => {
    for (const step of ['create', 'tokens', 'enrol']) await npm(template, [step], environment);
    const devices = await Promise.all(['0', '1', '2'].map((n) => npm(template, ['device', '--', n], environment)));
    for (const said of devices) expect(said).toMatch(/trained on version 0, loss \d.*\n.*accepted\n/);
    const { task } = JSON.parse(readFileSync(join(inProject(template), 'task.json'), 'utf8')) as { task: string };
    const { versions } = await reached(task);
    expect((versions as { accepted: number }[])[1]?.accepted).toBe(3);
    const [taken = ''] = shellBlocksIn(read(template, 'README.md')).at(-1) ?? [];
    const typed = taken
      .replace('npm run basa -- ', '')
      .replace(/export \S+/, `export ${task}`)
      .split(' ');
    const here = typed.map((word) => (/^model\./.test(word) ? join(inProject(template), word) : word));
    const exported = await type(...here);
    expect(exported.out).toContain('wrote version 1 (131 parameters)');
  });

  it('learns from a device that there is no task yet', async () => {
    await basaHere(['new', inProject('without-task')]);
    await expect(npm('without-task', ['device', '--', '0'])).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Run `npm run create` first'),
    });
  });

  it('learns from a new project which variables are missing', async () => {
    await expect(npm('node', ['create'], { BASA_SERVER: '' })).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Set BASA_SERVER'),
    });
  });

  it('creates the task of the guide’s net.json and has three devices of `basa client` train it', async () => {
    const file = join(folder, 'net.json');
    const [network] = snippetsOf(readPage('docs/guides/own-model.md'), 'json');
    writeFileSync(file, network?.code ?? '');
    const created = await type(...words`task create --model ${file} --clip 0.4 --buffer 3 --json`);
    const { task } = lastLine(created.out) as { task: string };
    const tokens = await enrolHere(environment, { task, count: 3, folder: join(folder, 'tokens-of-three') });
    const policy = await fetch(new URL(AUTHORITY_PATH.policy(task), environment['BASA_AUTHORITY']));
    expect(TaskPolicy.decode(new Uint8Array(await policy.arrayBuffer()))).toMatchObject({
      dimension: 131,
      training: { epochs: 1, batchSize: 20, learningRate: 0.1 },
    });
    const module = join(inProject('node'), 'model.ts');
    const own = words`--task ${task} --model ${module} --users 3 --json`;
    const devices = tokens.map((token, n) =>
      type(...words`client --identity ${join(folder, `client-${n}`)} --enrol ${token} --user ${String(n)}`, ...own),
    );
    for (const { out } of await Promise.all(devices)) expect(lastLine(out)).toMatchObject({ accepted: 1 });
    await reached(task);
  });

  it('creates the task of a module, with its training settings and its test set', async () => {
    const module = join(inProject('node'), 'model.ts');
    const created = await type(...words`task create --model ${module} --name module --target 99 --json`);
    const { task } = lastLine(created.out) as { task: string };
    const policy = await fetch(new URL(AUTHORITY_PATH.policy(task), environment['BASA_AUTHORITY']));
    expect(TaskPolicy.decode(new Uint8Array(await policy.arrayBuffer()))).toMatchObject({
      training: { epochs: 2, batchSize: 8, learningRate: 0.1 },
    });
    const accuracy = async () => lastLine((await type('task', 'show', task, '--json')).out)['accuracy'];
    await expect.poll(accuracy).toBeDefined();
    expect(await accuracy()).toBeGreaterThan(0);
  });

  it.each([
    ['layer 0: there is no kind "densee"', { input: { channels: 4 }, layers: [{ kind: 'densee' }] }],
    ['layers must be a list', { input: { channels: 4 } }],
  ])('is told where its network is wrong: %s', async (sentence, network) => {
    const file = join(folder, 'wrong.json');
    writeFileSync(file, JSON.stringify(network));
    const { code, errors } = await type('task', 'create', '--model', file);
    expect([code, errors]).toEqual([2, expect.stringContaining(sentence)]);
  });

  it('learns that the model file does not exist, and that a target needs a test set', async () => {
    expect((await type('task', 'create', '--model', 'nowhere.json')).errors).toContain('nowhere.json does not exist');
    expect((await type('task', 'create', '--model', 'flsim', '--target', '50')).errors).toContain('--test');
  });

  it('exports the model and the curves in every format, or says why not', async () => {
    const task = environment['BASA_TASK'] ?? '';
    const out = join(folder, 'out');
    const exported = async (...more: readonly string[]) => {
      const { code, out: said, errors } = await type('task', 'export', task, ...more, '--json');
      expect([code, errors]).toEqual([0, expect.any(String)]);
      return (lastLine(said) as { file: string }).file;
    };
    for (const name of ['m.onnx', 'm.safetensors', 'c.csv'])
      expect(await exported('--out', join(out, name))).toBe(join(out, name));
    expect(readFileSync(join(out, 'c.csv'), 'utf8')).toMatch(/^version,at,accuracy,loss,updates,dropped,meanAge\r\n0,/);
    expect((await type('task', 'export', task, '--out', 'm.txt')).errors).toContain('or add --format');
    expect((await type('task', 'export', task, '--out', 'm', '--format', 'txt')).errors).toContain('--format takes');
  });

  it('exports a network that the server does not hold with its file, as far as the format can', async () => {
    const { task } = JSON.parse(readFileSync(join(inProject('tfjs'), 'task.json'), 'utf8')) as { task: string };
    const module = join(inProject('tfjs'), 'model.ts');
    const out = join(folder, 'tfjs.safetensors');
    expect((await type('task', 'export', task, '--out', out)).errors).toContain(
      'add --model with the file of the network',
    );
    expect((await type('task', 'export', task, '--out', out, '--model', module)).code).toBe(0);
    const onnx = await type('task', 'export', task, '--out', join(folder, 'tfjs.onnx'), '--model', module);
    expect([onnx.code, onnx.errors]).toEqual([2, expect.stringContaining('whose layers are not known here')]);
  });
});
