/** Commands as a person types them after reading a program's output or a page. */

/** The commands below `Next steps:` of a program: indented lines, without their remarks. */
export function stepsIn(said: string): readonly string[] {
  const [, below = ''] = said.split('\nNext steps:\n');
  return commandsOf(below.split('\n').filter((line) => line.startsWith('  ')));
}

/** Every block of commands on a page, in order. */
export function shellBlocksIn(page: string): readonly (readonly string[])[] {
  return [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => commandsOf(block.split('\n')));
}

function commandsOf(lines: readonly string[]): readonly string[] {
  return lines.map((line) => line.replace(/\s+#.*$/, '').trim()).filter((line) => line !== '');
}

/** The environment of a newly opened shell: nothing of the npm or Node that runs this program. */
export function freshEnvironment(): NodeJS.ProcessEnv {
  const isOurs = (name: string): boolean => /^(npm_|INIT_CWD$|NODE_OPTIONS$|BASA_|VITEST)/.test(name);
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOurs(name)));
}

/** The variables that a program or command told its reader to set. */
export function exportsOf(said: string): Record<string, string> {
  return Object.fromEntries(
    [...said.matchAll(/export (\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]),
  );
}

/** `<the task>` in a line of a page stands for what an earlier command printed. */
export function withNames(line: string, said: readonly string[]): string {
  const task = /^task ([0-9a-f]{64})$/m.exec(said.join('\n'))?.[1] ?? '';
  return line.replace('<the task>', task);
}
