import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openFolderStore } from '@basa/client/node';
import { decodeSafetensors, encodeSafetensors, logisticRegression } from '@basa/learning';
import { AUTHORITY_PATH, SERVER_PATH } from '@basa/protocol/http';
import { CLIPPED } from '@basa/protocol/internal/wire/training.ts';
import { ENGINE, TaskPolicy } from '@basa/protocol/policy';
import { pagePaths, readPage, runProgram, runSnippet, snippetsOf } from '@basa/testkit/pages/snippets.ts';
import type { Running } from '@basa/testkit/processes/start.ts';
import { basaHere, enrolHere, lastLine } from '@basa/testkit/programs/basa.ts';
import { basa, start } from '@basa/testkit/programs/basa-process.ts';
import { exportsOf } from '@basa/testkit/programs/typed.ts';
import { ROOT } from '@basa/testkit/root.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { words } from './support/words.ts';

const hasNumpy = spawnSync(process.env['BASA_PYTHON'] ?? 'python3', ['-c', 'import numpy, cryptography']).status === 0;

const servicePrograms = (page: string) => snippetsOf(readPage(page)).filter(({ needs }) => needs.includes('services'));

/** Pages of docs whose programs need both services; those of README.md and of the client have tests of their own. */
function pagesWithServices(): readonly string[] {
  return pagePaths().filter((page) => page.startsWith('docs/') && servicePrograms(page).length > 0);
}

/** A first terminal with `basa dev`, and whatever a person types in a second one. */
describe('with `basa dev` in one terminal, another', () => {
  const folder = mkdtempSync(join(tmpdir(), 'basa-dev-test-'));
  let dev: Running;
  let environment: Record<string, string>;
  const type = (...args: readonly string[]) => basaHere(args, environment);
  let made = 0;
  const enrol = (task = environment['BASA_TASK'] ?? '') =>
    enrolHere(environment, { task, folder: join(folder, `enrolment-${++made}`) });
  const create = async (name: string, ...flags: readonly string[]): Promise<string> => {
    const { out } = await type('task', 'create', '--name', name, ...flags, '--json');
    return (lastLine(out) as { task: string }).task;
  };
  /** The policy of a task that is created with these flags. */
  const policyOf = async (...flags: readonly string[]) => {
    const task = await create(`task ${++made}`, ...flags);
    const answer = await fetch(new URL(AUTHORITY_PATH.policy(task), environment['BASA_AUTHORITY']));
    return TaskPolicy.decode(new Uint8Array(await answer.arrayBuffer()));
  };
  const typeElsewhere = (...args: readonly string[]) => basa(args, environment);

  beforeAll(async () => {
    dev = start(words`dev --folder ${join(folder, 'data')} --devices 2 --buffer 3 --server-port 0 --authority-port 0`);
    const said = await dev.said('Ctrl-C stops everything');
    environment = exportsOf(said);
  });
  afterAll(async () => {
    dev.child.kill('SIGINT');
    expect((await dev.ended).code).toBe(0);
  });

  it('takes part as a device', async () => {
    const { code, out } = await typeElsewhere('client', '--identity', join(folder, 'mine'), '--rounds', '2', '--json');
    expect(code).toBe(0);
    expect(lastLine(out)).toMatchObject({ accepted: 2, rejected: 0, ended: 'rounds' });
  });

  it('is told that an update is accepted, without the names of batches', async () => {
    const { out } = await typeElsewhere('client', '--identity', join(folder, 'mine'), '--rounds', '1');
    expect(out).toMatch(/^accepted$/m);
    expect(out).not.toMatch(/[0-9a-f]{16}/);
  });

  it('enrols with the line of its number in a file of tokens', async () => {
    const task = await create('by file', '--buffer', '3');
    const file = join(folder, 'tokens.txt');
    const [token = ''] = await enrol(task);
    writeFileSync(file, `${'f'.repeat(64)}\n${token}\nno token\n`);
    const update = join(folder, 'by-file.f32');
    writeFileSync(update, new Uint8Array(new Float32Array(7850).fill(0.01).buffer));
    const device = words`client --task ${task} --identity ${join(folder, 'by-file')} --update ${update}`;
    const wrong = await type(...device, '--enrol', file, '--user', '2');
    expect([wrong.code, wrong.errors]).toEqual([2, expect.stringContaining('line 3 of the file of --enrol is no')]);
    expect((await type(...device, '--enrol', 'FF')).errors).toContain('--enrol takes 64 lower-case hexadecimal digits');
    expect((await type(...device, '--enrol', file, '--user', '1')).out).toMatch(/^accepted$/m);
  });

  it('learns that another process has the identity', async () => {
    const held = await openFolderStore(join(folder, 'held'));
    const { code, errors } = await typeElsewhere('client', '--identity', join(folder, 'held'));
    await held.close();
    expect(code).toBe(2);
    expect(errors).toMatch(/^basa: .*(in use|another process)/m);
  });

  it('runs the ten lines of the README as they are written', async () => {
    const [token = ''] = await enrol();
    const device = { ...environment, BASA_ENROLMENT_TOKEN: token };
    const said = await runSnippet('README.md', { cwd: folder, environment: device });
    expect(said).toMatch(/^accepted, \d+ bytes uploaded\n$/);
  });

  it.each(pagesWithServices())(
    'runs the programs of %s, each with the variables that the previous program exported',
    async (page) => {
      const [token = ''] = await enrol();
      let variables: Record<string, string> = { ...environment, BASA_ENROLMENT_TOKEN: token };
      for (const { code, line } of servicePrograms(page)) {
        const said = await runProgram(code, { cwd: folder, environment: variables });
        expect(said, `${page}:${line}`).toMatch(/^export |\d contributions? /m);
        variables = { ...variables, ...exportsOf(said) };
      }
    },
  );

  it('shows, pauses, resumes and exports the task', async () => {
    const task = environment['BASA_TASK'] ?? '';
    const count = async (): Promise<number> => {
      const shown = lastLine((await type('task', 'show', task, '--json')).out);
      return (shown['versions'] as object[]).length;
    };
    await expect.poll(count).toBeGreaterThanOrEqual(2);
    expect((await type('task', 'pause', 'dev')).out).toContain(`dev (${task.slice(0, 8)}) is paused`);
    expect((await type('task', 'resume', task.slice(0, 10))).out).toContain('is running');
    expect((await type('task', 'show', '--last', '1', '--json')).out).toContain('"versions":[{');
    const last = lastLine((await type('task', 'show', '--last', '1', '--json')).out);
    expect(last['versions']).toHaveLength(1);
    expect((await type('task', 'show')).out).toMatch(/^next version +\d+ of at least 3 updates for version \d+/m);
    const file = join(folder, 'model.safetensors');
    expect((await type('task', 'export', task, '--out', file)).code).toBe(0);
    expect(decodeSafetensors(logisticRegression(), readFileSync(file)).length).toBe(7850);
    expect((await type('task', 'export', task, '--out', 'model.txt')).errors).toContain('.safetensors, .onnx or .csv');
  });

  it('creates a task from a model file, enrols a device and revokes it', async () => {
    const file = join(folder, 'first.safetensors');
    const parameters = Float32Array.from({ length: 7850 }, (_, n) => n / 7850);
    writeFileSync(file, encodeSafetensors(logisticRegression(), parameters));
    const task = await create('mine', '--buffer', '4', '--initial', file);
    const headers = { authorization: `Bearer ${environment['BASA_OPERATOR_TOKEN']}` };
    const first = await fetch(new URL(SERVER_PATH.model(task, 0), environment['BASA_SERVER']), { headers });
    expect(new Float32Array(await first.arrayBuffer())).toEqual(parameters);
    expect(await enrol(task)).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
    const key = '11'.repeat(32);
    expect((await type('keys', 'enroll', '--task', task, '--device-key', key)).out).toContain('allowed');
  });

  it('gathers statistics: a task of fields, reports of devices, and the results of a window', async () => {
    const [file, reported] = [join(folder, 'fields.json'), join(folder, 'report.json')];
    writeFileSync(file, JSON.stringify({ screenMs: { low: 0, high: 1000, step: 10 } }));
    writeFileSync(reported, JSON.stringify({ screenMs: 2000, country: 'at' }));
    const fields = ['--statistics', file, '--field', 'country:choices:at,de'];
    const numbers = ['--window', '2', '--buffer', '2', '--minimum', '2', '--unsafe-exact'];
    const task = await create('usage', ...fields, ...numbers);
    const again = await type('task', 'create', '--name', 'usage', ...fields, ...numbers);
    expect(again.out).toContain(`task ${task}`);
    expect(again.errors).toContain('devices demand at least 3: they take part only with `basa client --minimum 2`');
    expect(again.out).toContain('screenMs: the mean of 2 devices ± 0 (95 % error bar)');
    for (const [n, token] of [...(await enrol(task)), ...(await enrol(task))].entries()) {
      const identity = ['--identity', join(folder, `reporter-${n}`), '--enrol', token, '--no-noise', '--minimum', '2'];
      const report = await type('client', '--report', reported, '--task', task, ...identity, '--json');
      expect(lastLine(report.out)).toMatchObject({ kind: 'accepted' });
      expect(report.errors).toContain('out of range, and counted at the nearest bound or as "other": screenMs');
    }
    const windows = async () => {
      const shown = lastLine((await type('task', 'show', task, '--json')).out);
      return shown['windows'] as readonly { readonly devices: number; readonly lost: number }[];
    };
    // Both are in one window, or each of them in a window of its own that has no result.
    const settled = async () => (await windows()).reduce((sum, { devices, lost }) => sum + devices + lost, 0);
    await expect.poll(settled, { timeout: 20_000 }).toBe(2);
    const shown = await type('task', 'show', task);
    expect(shown.out).toMatch(/screenMs 1000 ± 0; country at 2, de 0, other 0 \(± 0\)|no batch of at least 2 reports/);
    expect((await type('task', 'create', ...fields, '--target', '9')).errors).toContain('--target is for tasks with');
    expect((await type('task', 'create', '--unsafe-exact')).errors).toContain('--unsafe-exact needs --statistics or');
  });

  it.skipIf(!hasNumpy)(
    'scores versions as the guide does, and sees the score wherever versions are listed',
    async () => {
      const network = join(folder, 'untested.json');
      writeFileSync(
        network,
        JSON.stringify({ name: 'net', input: { channels: 784 }, layers: [{ kind: 'dense', outputs: 10 }], clip: 1 }),
      );
      const created = await type('task', 'create', '--name', 'scored', '--model', network, '--buffer', '3', '--json');
      const { task } = lastLine(created.out) as { task: string };
      const page = readPage('docs/guides/evaluate.md');
      const file = join(folder, 'score.py');
      const curves = join(folder, 'scored.csv');
      writeFileSync(file, snippetsOf(page, 'python')[0]?.code ?? '');
      const [evaluation = '', exported = ''] = snippetsOf(page, 'sh').map(({ code }) =>
        code
          .trim()
          .replace('npm run basa -- ', '')
          .replace('<the task>', 'scored')
          .replace('score.py', file)
          .replace('curves.csv', curves),
      );
      const { out } = await type(...evaluation.split(' '), '--once');
      expect(out).toMatch(/^version 0: agreement 0\.\d+$/m);
      const again = await type(...evaluation.split(' '), '--once', '--json');
      expect(lastLine(again.out)).toEqual({ task, name: 'agreement', versions: [] });
      expect((await type('task', 'ls')).out).toMatch(/scored +running +0 +agreement 0\.\d+ /);
      expect((await type('task', 'show', 'scored')).out).toMatch(/^agreement +0\.\d+$/m);
      expect(lastLine((await type('task', 'show', 'scored', '--json')).out)).toMatchObject({
        evaluation: { name: 'agreement' },
        versions: [{ evaluation: { name: 'agreement' } }],
      });
      expect((await type(...exported.split(' '))).code).toBe(0);
      expect(readFileSync(curves, 'utf8')).toMatch(
        /^version,at,accuracy,score,scoreName,loss,.*\r\n0,[^,]+,,0\.\d+,agreement,/,
      );
      for (const [text, says] of [
        ['def score(parameters):\n    return parameters.nothing\n', 'score.py, line 2: AttributeError'],
        ['def scores(parameters):\n    return 1\n', 'needs a function score(parameters)'],
        ['import os\nos._exit(3)\n', 'the program ended with code 3'],
      ] as const) {
        writeFileSync(file, text);
        const wrong = await type('evaluate', 'scored', '--python', file, '--once');
        expect([wrong.code, wrong.errors]).toEqual([2, expect.stringContaining(says)]);
        expect(wrong.errors.includes('pip install')).toBe(says.startsWith('the program ended'));
      }
      const refused = await type('evaluate', 'scored', '--python', file, '--token', 'f'.repeat(64));
      expect(refused.code).not.toBe(0);
      expect(`${refused.out}${refused.errors}`).not.toContain('f'.repeat(64));
    },
  );

  it.skipIf(!hasNumpy)('trains an adapter as the guide of large models does', async () => {
    const page = readPage('docs/guides/large-models.md');
    const [program] = snippetsOf(page, 'python');
    const place = mkdtempSync(join(folder, 'large-'));
    writeFileSync(join(place, 'large.py'), program?.code ?? '');
    const PYTHONPATH = join(ROOT, 'clients/python');
    const lines = snippetsOf(page, 'sh').flatMap(({ code }) => code.trim().split('\n'));
    const shell = async (line: string, variables = environment): Promise<string> => {
      const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
      const [first = '', ...more] = words;
      if (first === 'npm') return (await basa(words.slice(4), variables, place)).out;
      const env = { ...process.env, ...variables, PYTHONPATH };
      return (await promisify(execFile)(first, more, { cwd: place, env })).stdout;
    };
    const [devices, operators] = [(line: string) => line.endsWith(' &'), lines.indexOf('export BASA_TASK=<the task>')];
    const before: string[] = [];
    for (const line of lines.slice(0, operators)) before.push(await shell(line));
    const BASA_TASK = /^task ([0-9a-f]{64})$/m.exec(before.join('\n'))?.[1] ?? '';
    const variables = { ...environment, BASA_TASK, BASA_ENROLMENT_TOKEN: '' };
    await Promise.all(lines.filter(devices).map((line) => shell(line.slice(0, -2), variables)));
    const evaluation = lines.at(-1) ?? '';
    const scored = await shell(evaluation);
    const scores = [...scored.matchAll(/^version \d: score (-[\d.]+)$/gm)].map(([, score]) => Number(score));
    expect(scores.at(-1)).toBeLessThan(-1.5);
    expect(Math.max(...scores)).toBeGreaterThan(-0.5);
  });

  it('lists devices, revokes one by its first digits, and learns how to find the digits', async () => {
    const { devices } = lastLine((await type('device', 'list', '--json')).out) as {
      devices: { user: string; revoked: boolean }[];
    };
    const [first, ...others] = devices;
    const shown = (await type('device', 'list')).out;
    expect(shown).toMatch(/^user +device key +task +last contribution/);
    expect(shown).toMatch(/dev \(\w{8}\) +version \d+, 20\d\d-/);
    expect(others.length).toBeGreaterThanOrEqual(1);
    const { user } = first as { user: string };
    expect((await type('keys', 'revoke', '--user', user.slice(0, 8))).out).toContain(`${user} is revoked`);
    const listed = (await type('device', 'list')).out.split('\n').filter((line) => line.includes('revoked'));
    expect(listed).toEqual([expect.stringContaining(user.slice(0, 8))]);
    expect((await type('keys', 'revoke', '--user', '0000')).errors).toContain('`basa device list` lists them');
  });

  it('offers an update with a number for each metric of the task, and learns which metric is missing', async () => {
    const update = join(folder, 'update.f32');
    writeFileSync(update, new Uint8Array(new Float32Array(7850).fill(0.01).buffer));
    const task = await create('metrics', '--metrics', 'loss:0:5,accuracy:0:1');
    const [token = ''] = await enrol(task);
    const device = words`client --identity ${join(folder, 'metrics')} --task ${task} --update ${update} --enrol ${token}`;
    const offer = (...more: readonly string[]) => type(...device, ...more);
    expect((await offer()).errors).toContain('add --metric loss=<number> --metric accuracy=<number>');
    expect((await offer('--metric', 'los=1')).errors).toContain(
      'the task has no metric "los"; it asks for loss, accuracy',
    );
    expect((await offer('--metric', 'loss=much')).errors).toContain('a finite number, got "loss=much"');
    expect((await type('client', '--identity', join(folder, 'x'), '--metric', 'loss=1')).errors).toContain(
      '--metric needs --update',
    );
    const { code, out } = await offer('--metric', 'loss=0.5', '--metric', 'accuracy=0.5');
    expect([code, out]).toEqual([0, expect.stringContaining('accepted\n')]);
    const again = await offer('--metric', 'loss=0.5', '--metric', 'accuracy=0.5');
    expect(again.out).toMatch(/rejected: [A-Z].*\. .*[A-Z].*\.\n/);
    expect(again.out).not.toMatch(/rejected: [a-z-]+\n/);
  });

  it('is warned by `task create` as `plan` warns', async () => {
    const noisy = ['--model', 'mnist', '--buffer', '4', '--noise', '1', '--participations', '200'];
    const { advice } = lastLine((await basaHere(['plan', ...noisy, '--json'])).out) as { advice: string[] };
    expect(advice.length).toBeGreaterThan(0);
    const { errors } = await type('task', 'create', '--name', 'noisy', ...noisy);
    for (const sentence of advice) expect(errors).toContain(`warning: ${sentence}`);
  });

  it('greets a first try calmly, in at most ten lines', async () => {
    const { out, errors } = await type('task', 'create', '--name', 'first try', '--buffer', '3');
    expect(errors).toMatch(
      /^note: K = 3 with noise [\d.]+ is fine for a first try\. With data of people, use a --buffer/m,
    );
    expect(errors).not.toContain('warning');
    expect(`${errors}${out}`.trim().split('\n').length).toBeLessThanOrEqual(10);
    const fields = Array.from({ length: 20 }, (_, n) => ['--field', `f${n}:number:0:9:1`]).flat();
    const statistics = await type('task', 'create', '--name', 'many', ...fields, '--unsafe-exact');
    expect(statistics.out).toContain('and 15 more');
    expect(`${statistics.errors}${statistics.out}`.trim().split('\n').length).toBeLessThanOrEqual(10);
  });

  it('takes the training and the clip of a net.json', async () => {
    const file = join(folder, 'net.json');
    const tensors = [{ name: 'parameters', shape: [5] }];
    const input = { height: 1, width: 1, channels: 1 };
    const net = { name: 'five', input, architecture: [], tensors, clip: 0.5 };
    writeFileSync(file, JSON.stringify({ ...net, training: { epochs: 3, batchSize: 7, loss: 'own' } }));
    expect(await policyOf('--model', file)).toMatchObject({
      ...{ clip: 0.5, dimension: 5 },
      training: { epochs: 3, batchSize: 7, learningRate: 0.1, loss: 'own' },
    });
  });

  it('follows a task until it is finished, and deletes it only with --yes', async () => {
    const task = await create('short');
    const [token = ''] = await enrol(task);
    const following = type('task', 'show', 'short', '--follow', '--json');
    expect((await type('task', 'delete', 'short', '--yes')).errors).toContain('finish it');
    for (const word of ['finish', 'delete']) expect((await type('task', word)).errors).toContain('name a task');
    expect((await type('task', 'finish', 'short')).out).toContain('is finished');
    const followed = await following;
    expect(followed.errors).toContain('finished: an operator finished it');
    expect(lastLine(followed.out)).toMatchObject({ task, state: 'finished' });
    expect((await type('task', 'resume', 'short')).code).toBe(8);
    const late = ['--identity', join(folder, 'late'), '--task', task, '--enrol', token];
    const { code, out } = await type('client', ...late);
    expect([code, out]).toEqual([0, expect.stringContaining('The task is finished. The model is ready')]);
    expect((await type('task', 'delete', 'short')).errors).toContain('then add --yes');
    expect((await type('task', 'delete', 'short', '--yes')).out).toContain('deleted short');
    expect((await type('task', 'show', 'short')).errors).toContain('there is no task "short"');
  });

  it('writes the training settings, the noise and the metrics into the policy', async () => {
    const said = ['--set', 'training={"epochs":2,"batchSize":5,"learningRate":0.25}', '--set', 'maxStaleness=3'];
    expect(await policyOf(...said)).toMatchObject({
      training: { epochs: 2, batchSize: 5, learningRate: 0.25, loss: 'softmaxCrossEntropy' },
      maxStaleness: 3,
    });
    expect(await policyOf()).toMatchObject({
      training: { epochs: 1, batchSize: 10, learningRate: 0.03, loss: 'softmaxCrossEntropy' },
      maxStaleness: 15,
    });
    const asked = ['--noise', '4', '--participations', '16', '--buffer', '50', '--clip', '0.5'];
    expect(await policyOf(...asked)).toMatchObject({
      privacy: { noiseMultiplier: 4, colluders: 5, budget: { participations: 16, delta: 1e-6 } },
      clip: 0.5,
      metrics: [CLIPPED],
    });
    expect(await policyOf('--no-noise')).toMatchObject({
      metrics: [],
      privacy: undefined,
      oneShot: { authorityNoise: false },
    });
    expect(await policyOf('--buffer', '100', '--versions', '30')).toMatchObject({
      privacy: { noiseMultiplier: 1, budget: { participations: 30, delta: 1e-6 } },
    });
    expect(await policyOf('--metrics', 'loss:0:5,accuracy:0:1')).toMatchObject({
      privacy: { noiseMultiplier: 0.1, colluders: 1, budget: undefined },
      oneShot: { authorityNoise: true },
      metrics: [{ name: 'loss', low: 0, high: 5 }, { name: 'accuracy', low: 0, high: 1 }, CLIPPED],
    });
    for (const [flag, value, why = flag] of [
      ['--metrics', 'loss:5'],
      ['--clip', '0'],
      ['--set', 'delta=1e-5', 'delta needs --participations'],
      ['--set', 'training=fast', '--set training takes an object in JSON'],
      ['--set', 'bits=many', '--set bits takes a number'],
      ['--set', 'speed=1', '--set takes key=value with one of'],
    ] as const) {
      const { code, errors } = await type('task', 'create', flag, value);
      expect([flag, code, errors]).toEqual([flag, 2, expect.stringContaining(why)]);
    }
  });

  it('creates a task for large sums, and learns which flags paper mode does not support', async () => {
    expect(await policyOf('--buffer', '2000')).toMatchObject({
      engine: ENGINE.oneShot,
      oneShot: { tolerated: 0 },
      bufferSize: 2000,
    });
    const paper = async (...more: readonly string[]) =>
      (await type('task', 'create', '--mode', 'paper', ...more)).errors;
    expect(await paper('--noise', '1', '--participations', '1')).toContain('privacy needs one-shot mode');
    expect(await paper('--set', 'tolerated=1')).toContain('tolerated needs one-shot mode');
    expect(await paper('--buffer', '2000')).toContain('--buffer takes a whole number from 2 to 1024');
    expect(await paper()).toContain('paper mode needs unsafePaperMode');
  });

  it('gets advice about a used token, a wrong pinned key and an unknown device', async () => {
    const used = await type('client', '--identity', join(folder, 'second'));
    expect(used.errors).toContain(
      'A token enrols one device, once, after the owner of the authority registered its hash (`basa keys enroll`)',
    );
    const wrong = await type('client', '--identity', join(folder, 'third'), '--authority-key', 'ab'.repeat(32));
    expect(wrong.errors).toContain(
      'The authority does not have the expected key; check --authority and --authority-key (BASA_AUTHORITY, BASA_AUTHORITY_KEY)',
    );
    const nobody = await type('keys', 'revoke', '--user', 'abcdef0123');
    expect(nobody.errors).toContain('`basa device list`');
    const unknown = await type('task', 'pause', 'ab'.repeat(32), '--token', 'x');
    expect(unknown.errors).toContain('Give the token of this service: --token or BASA_OPERATOR_TOKEN for the server');
  });

  it('leaves no folder after a refused enrolment, and never removes an existing folder', async () => {
    const refused = async (identity: string) =>
      (await type('client', '--identity', identity, '--enrol', 'ab'.repeat(32))).code;
    expect(await refused(join(folder, 'new/devices/0'))).toBe(8);
    expect(existsSync(join(folder, 'new'))).toBe(false);
    mkdirSync(join(folder, 'there/devices'), { recursive: true });
    expect(await refused(join(folder, 'there/devices/0'))).toBe(8);
    expect(readdirSync(join(folder, 'there/devices'))).toEqual([]);
    expect(await refused(join(folder, 'there/devices'))).toBe(8);
    expect(readdirSync(join(folder, 'there/devices'))).toContain('identity.key');
  });

  it('names an authority that was missed, and one for which there are no hashes', async () => {
    const out = join(folder, 'for-this-one');
    await type('keys', 'make', '--out', out);
    const enroll = (address: string, ...more: readonly string[]) => {
      const authority = `${environment['BASA_AUTHORITY']}${address}`;
      const tokens = address === '' ? '' : ',other';
      const at = ['--authority', authority, '--authority-token', `${environment['BASA_AUTHORITY_TOKEN']}${tokens}`];
      return type('keys', 'enroll', ...more, ...at);
    };
    const missed = await enroll(',http://127.0.0.1:9', '--hashes', out);
    expect(missed.errors).toContain('The other authorities have accepted it; run this command again when it is back');
    expect([missed.code, missed.out]).toEqual([0, 'registered 1 token, each for one device\n']);
    const other = join(folder, 'for-another');
    await type('keys', 'make', '--out', other, '--authority-key', 'ab'.repeat(32));
    expect(await enroll('', '--hashes', other)).toMatchObject({
      code: 2,
      errors: expect.stringContaining('ask for the file of this authority'),
    });
    expect((await enroll('', '--hashes', join(other, 'tokens.txt'))).code).toBe(2);
    expect((await enroll('')).errors).toContain('name the devices with --hashes');
    expect((await type('keys', 'make', '--out', other)).errors).toContain('exists; name another folder');
    const wrong = await type('client', '--identity', join(folder, 'mistyped'), '--enrol', 'mistyped');
    expect([wrong.code, wrong.errors]).toEqual([2, expect.stringContaining('--enrol takes')]);
  });

  it('does not take part below its own floor', async () => {
    const identity = join(folder, 'choosy');
    const { code, errors } = await type('client', '--identity', identity, '--minimum', '4');
    expect(errors).toContain('a sum may contain only 3 updates of one version; this device demands at least 4');
    expect(code).not.toBe(0);
    expect((await type('client', '--identity', identity, '--max-staleness', '14')).errors).toContain('at most 14');
    const open = await type('client', '--identity', identity, '--max-epsilon', '8');
    expect(open.errors).toContain(
      'the task only blurs sums and has no budget; this device demands epsilon of at most 8',
    );
    const alone = await type('client', '--identity', identity, '--delta', '1e-7');
    expect(alone.errors).toContain('--delta needs --max-epsilon');
  });
});
