/** Completion, in each shell itself: what its script offers after the words that were typed. */
import { execFileSync, spawnSync } from 'node:child_process';
import { basaHere } from '@basa/testkit/programs/basa.ts';
import { describe, expect, it } from 'vitest';

type Complete = (script: string, words: readonly string[]) => string;

const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(' ');
const run = (shell: string, program: string): string =>
  execFileSync(shell, [...(shell === 'zsh' ? ['-f'] : []), '-c', program], { encoding: 'utf8' });

/** Asks a shell for completions; zsh's own functions are replaced by some that print their arguments. */
const SHELLS: Readonly<Record<string, Complete>> = {
  bash: (script, words) =>
    run(
      'bash',
      `${script}\nCOMP_WORDS=(${quoted(words)}); COMP_CWORD=${words.length - 1}; _basa; printf '%s\\n' "\${COMPREPLY[@]}"`,
    ),
  zsh: (script, words) =>
    run(
      'zsh',
      `compdef() { : }; _files() { : }; compadd() { print -l -- \${(M)@[2,-1]:#$PREFIX*} }; _describe() { print -l -- \${(M)\${(P)2}:#$PREFIX*} }
${script}\nwords=(${quoted(words)}); CURRENT=${words.length}; PREFIX='${words.at(-1)}'; _basa`,
    ),
  fish: (script, words) => run('fish', `${script}\ncomplete -C '${words.join(' ')}'`),
};

/** A shell that is not installed is not tried; bash always is. */
const isThere = (shell: string): boolean => shell === 'bash' || spawnSync(shell, ['--version']).status === 0;

describe.each(Object.entries(SHELLS))('basa completion %s', (shell, complete) => {
  const offered = async (...words: readonly string[]): Promise<readonly string[]> => {
    const { out } = await basaHere(['completion', shell]);
    const lines = complete(out, words).split('\n');
    // Behind a word stands what it means, after a tab or a colon.
    return lines.flatMap((line) => (line.trim() === '' ? [] : [line.split(/[\t:]/)[0] as string]));
  };

  it.skipIf(!isThere(shell))('completes commands, the second word of a group, and flags', async () => {
    expect(await offered('basa', 'ta')).toEqual(['task']);
    expect(await offered('basa', 'task', 're')).toEqual(['resume']);
    expect(await offered('basa', 'task', 'show', '--f')).toEqual(['--follow']);
    expect(await offered('basa', '--')).toEqual(['--help', '--version']);
    expect(await offered('basa', 'authority', '--c')).toEqual(['--config']);
  });

  it.skipIf(!isThere(shell))(
    'offers only the flags of the command, if its second word is also the name of another command',
    async () => {
      expect(await offered('basa', 'backup', 'server', '--t')).toEqual(['--to']);
      expect(await offered('basa', 'server', '--t')).toEqual([]);
    },
  );
});

it('no hint of another way to start `basa` is in a script', async () => {
  for (const shell of Object.keys(SHELLS)) expect((await basaHere(['completion', shell])).out).not.toContain('`basa');
});

it('names the shells it knows', async () => {
  const { code, errors } = await basaHere(['completion', 'csh']);
  expect([code, errors]).toEqual([
    2,
    expect.stringContaining('there is no script for the shell "csh"; choose one of bash, zsh, fish'),
  ]);
});
