/** `basa init`, and what it says comes next; and completion in a shell. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@basa/service';
import { afterAll, describe, expect, it } from 'vitest';
import { basaHere, lastLine, start } from './basa.ts';

const folder = mkdtempSync(join(tmpdir(), 'basa-init-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('basa init', () => {
  it('writes what both services start from, and what the operator types next works', async () => {
    const made = join(folder, 'made');
    const ports = [await freePort(), await freePort()].map(String);
    const flags = ['--server-port', ports[0] ?? '', '--authority-port', ports[1] ?? ''];
    const { code, out, errors } = await basaHere(['init', made, ...flags, '--json']);
    expect(code).toBe(0);
    for (const file of ['authority.key', 'operator.token', 'server.json', 'authority.json'])
      expect(statSync(join(made, file)).mode & 0o077).toBe(0);
    const services = ['authority', 'server'].map((name) => {
      expect(errors).toContain(`basa ${name} --config ${join(made, `${name}.json`)}`);
      return start([name, '--config', join(made, `${name}.json`)]);
    });
    try {
      await Promise.all(services.map(({ said }) => said('listening at')));
      const { server, authority } = lastLine(out) as Record<string, string>;
      const environment = {
        BASA_SERVER: server ?? '',
        BASA_AUTHORITY: authority ?? '',
        BASA_OPERATOR_TOKEN: readFileSync(join(made, 'operator.token'), 'utf8').trim(),
      };
      const created = await basaHere(['task', 'create', '--name', 'first', '--buffer', '3', '--json'], environment);
      expect(created.code).toBe(0);
      const enrolled = await basaHere(['keys', 'enroll', '--task', 'first', '--count', '3', '--json'], environment);
      expect(lastLine(enrolled.out)['tokens']).toHaveLength(3);
      expect((await basaHere(['device', 'list'], environment)).out).toContain('no device is enrolled');
    } finally {
      for (const { child } of services) child.kill('SIGTERM');
      await Promise.all(services.map(({ ended }) => ended));
    }
  });

  it('leaves a folder alone that is not empty', async () => {
    writeFileSync(join(folder, 'mine'), '');
    const { code, errors } = await basaHere(['init', folder]);
    expect([code, errors]).toEqual([2, expect.stringContaining('is not empty; give the path of a new folder')]);
  });

  it('writes no configuration with which keys could be read on the way', async () => {
    const { code, errors } = await basaHere(['init', join(folder, 'open'), '--host', 'basa.example.org']);
    expect([code, errors]).toEqual([2, expect.stringContaining('give --tls-cert and --tls-key')]);
  });
});

describe('basa completion', () => {
  const complete = (script: string, ...words: readonly string[]): readonly string[] => {
    const quoted = words.map((word) => `'${word}'`).join(' ');
    const program = `${script}\nCOMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _basa; echo "\${COMPREPLY[*]}"`;
    return execFileSync('bash', ['-c', program], { encoding: 'utf8' }).trim().split(' ');
  };

  it('bash completes commands, the second word of a group, and flags', async () => {
    const { out } = await basaHere(['completion', 'bash']);
    expect(complete(out, 'basa', 'ta')).toEqual(['task']);
    expect(complete(out, 'basa', 'task', 're')).toEqual(['resume']);
    expect(complete(out, 'basa', 'task', 'show', '--f')).toEqual(['--follow']);
    expect(complete(out, 'basa', 'authority', '')).toEqual(
      expect.arrayContaining(['verify-log', '--config', '--help']),
    );
  });

  it.each([
    ['zsh', 'bashcompinit'],
    ['fish', "complete -c basa -n '__fish_seen_subcommand_from task; and __fish_seen_subcommand_from show' -l follow"],
  ])('%s gets a script of its own', async (shell, line) => {
    expect((await basaHere(['completion', shell])).out).toContain(line);
  });

  it('names the shells it knows', async () => {
    const { code, errors } = await basaHere(['completion', 'csh']);
    expect([code, errors]).toEqual([2, expect.stringContaining('bash, zsh, fish, got "csh"')]);
  });
});
