import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { basaHere as basa, lastLine } from '@basa/testkit/programs/basa.ts';
import { basa as basaProcess, start } from '@basa/testkit/programs/basa-process.ts';
import { describe, expect, it } from 'vitest';
import { runCli } from '../src/index.ts';
import { programName } from '../src/shell/process.ts';
import { createTerminal } from '../src/shell/terminal.ts';

describe('basa', () => {
  it('without arguments lists its commands, and ends with the code of a wrong command line', async () => {
    const { code, out } = await basa([]);
    expect(code).toBe(2);
    for (const name of ['demo', 'dev', 'server', 'authority', 'client', 'task create', 'keys enroll'])
      expect(out).toContain(`basa ${name}`);
    expect((await basaProcess(['--help'])).code).toBe(0);
  });

  it('lists the commands of a group, with --help or without a second word', async () => {
    const asked = await basa(['task', '--help']);
    expect(asked.code).toBe(0);
    expect(asked.out).toContain('basa task show');
    expect(asked.out).not.toContain('basa keys');
    const short = await basa(['task']);
    expect([short.code, short.out]).toEqual([2, asked.out]);
    // One that is a command of its own names the others.
  });

  it('says its version', async () => {
    const { code, out } = await basa(['--version']);
    expect([code, out]).toEqual([0, expect.stringMatching(/^basa \d+\.\d+\.\d+, Node \d+/)]);
  });

  it.each([
    ['/clone/packages/cli/src/main.ts', {}, 'npm run basa --'],
    ['/mine/node_modules/.bin/basa', {}, 'npx basa'],
    ['/home/me/.npm/_npx/1/node_modules/.bin/basa', { npm_command: 'exec' }, 'npx basa'],
    ['/usr/bin/basa', {}, 'basa'],
  ])('started as %s %j hints are for %s', async (script, environment, program) => {
    expect(programName(script, '/mine', environment)).toBe(program);
    let errors = '';
    const stderr = { write: (text: string) => (errors += text) };
    await runCli(['nothing'], {}, { stdout: stderr, stderr }, program);
    expect(errors).toContain(`\`${program} --help\` lists all commands`);
    errors = '';
    await runCli(['task', '--help'], {}, { stdout: stderr, stderr }, program);
    expect(errors.includes(`type "${program}" instead of "basa"`)).toBe(program !== 'basa');
  });

  it('indents JSON only on a terminal', async () => {
    let out = '';
    const stdout = { isTTY: true, write: (text: string) => (out += text) };
    await runCli(['doctor', '--json'], {}, { stdout, stderr: { write: () => undefined } });
    expect(JSON.parse(out)).toHaveProperty('findings');
    expect(out).toContain('\n  "findings"');
    expect((await basa(['doctor', '--json'])).out.trim().split('\n')).toHaveLength(1);
  });

  it('writes no character that controls a terminal or turns text around', async () => {
    const [odd, shown] = ['a\x1b[2J\r\x9b\u202eb\tc', 'a\ufffd[2J\ufffd\ufffd\ufffdb\tc'];
    let out = '';
    const stream = { isTTY: true, columns: 99, write: (text: string) => (out += text) };
    const terminal = createTerminal(stream, stream);
    terminal.line(odd);
    terminal.warn(odd);
    terminal.status(odd);
    expect(out).toBe(`${shown}\n${shown}\n${shown}`);
    const { errors } = await basa([odd]);
    expect(errors).toContain(`there is no command "${shown}"`);
    const json = await basa([odd, '--json']);
    expect(json.out).not.toMatch(/[\x7f-\x9f\u202e]/);
    expect(JSON.parse(json.out)).toMatchObject({ error: expect.stringContaining(odd) });
  });

  it.each([
    ['tsk ls', 'there is no command "tsk ls" (did you mean "task ls"?)'],
    ['demo --bufer 3', 'there is no flag --bufer (did you mean "--buffer"?); see `basa demo --help`'],
    ['plan --participation', '(did you mean "--participations"?)'],
    ['plan --nois=2', '(did you mean "--noise"?)'],
    ['plan --jsn', '(did you mean "--json"?)'],
    ['plan --frobnicate', 'there is no flag --frobnicate; see'],
    ['demo --buffer ten', '--buffer takes a whole number from 3 to 10000, got "ten"'],
  ])('says what is wrong, and what was probably meant: %s', async (typed, says) => {
    const { code, errors } = await basa(typed.split(' '));
    expect([code, errors]).toEqual([2, expect.stringContaining(says)]);
  });

  it.each([
    ['task', 'ls', '--server'],
    ['keys', 'revoke', '--user', '11'.repeat(32), '--authority'],
  ])('does not send an operator’s token over plain http to another machine: %s %s', async (...words) => {
    const tokens = { BASA_OPERATOR_TOKEN: 'secret', BASA_AUTHORITY_TOKEN: 'secret' };
    const { code, errors } = await basa([...words, 'http://192.0.2.1:7800'], tokens);
    expect(code).toBe(2);
    expect(errors).toContain('plain http to another machine; use https, or add --unsafe-plain-http');
    expect((await basa([...words, 'not an address'], tokens)).errors).toContain(
      'takes an address such as https://host:port',
    );
  });

  it('a device refuses plain http to another machine as well', async () => {
    const identity = mkdtempSync(join(tmpdir(), 'basa-plain-'));
    const elsewhere = {
      BASA_SERVER: 'http://192.0.2.1:7800',
      BASA_AUTHORITY: 'http://192.0.2.1:7801',
      BASA_AUTHORITY_KEY: '11'.repeat(32),
      BASA_TASK: '22'.repeat(32),
      BASA_IDENTITY: identity,
    };
    expect((await basa(['client', '--update', '/dev/null'], elsewhere)).errors).toContain(
      'plain http to another machine',
    );
    rmSync(identity, { recursive: true });
  });

  it('ends its output with one line of JSON even when it fails', async () => {
    const { code, out } = await basa(['task', 'ls', '--json']);
    expect(code).toBe(2);
    expect(lastLine(out)).toEqual({
      error: '--server is missing: add it, or set the variable BASA_SERVER',
      exitCode: 2,
    });
  });

  it('says that there is no answer from an address', async () => {
    const { code, errors } = await basa(['task', 'ls', '--server', 'http://127.0.0.1:9']);
    expect(code).toBe(8);
    expect(errors).toContain('http://127.0.0.1:9 does not answer');
  });

  it('refuses a service without its configuration with the names of the keys', async () => {
    const { code, errors } = await basaProcess(['server']);
    expect(code).toBe(2);
    expect(errors).toContain('port is missing');
    expect(errors).toContain('authorityKey is missing');
  });

  it('ends quietly when its output is no longer read (`basa ... | head`)', async () => {
    const { child, ended } = start(['config', 'print', 'server']);
    child.stdout?.destroy();
    expect(await ended).toMatchObject({ code: 0, errors: '' });
  });

  it.each(['demo', 'dev', 'server', 'client', 'task export', 'keys revoke'])('%s explains itself', async (name) => {
    const { code, out } = await basa([...name.split(' '), '--help']);
    expect(code).toBe(0);
    expect(out).toContain(`basa ${name}:`);
    expect(out).toContain('--json');
  });
});
