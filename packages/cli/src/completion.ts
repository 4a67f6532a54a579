/** Completion of commands and flags as a script for a shell, from the commands themselves. */
import type { Command } from './command.ts';
import { COMMON_FLAGS } from './command.ts';

/** Each shell asks for the next word after those that were typed. */
const WRITERS = { bash, zsh, fish } as const;
export const SHELLS: readonly string[] = Object.keys(WRITERS);

export function completionScript(shell: string, commands: readonly Command[]): string | undefined {
  return Object.hasOwn(WRITERS, shell) ? WRITERS[shell as keyof typeof WRITERS](commands) : undefined;
}

const flagsOf = ({ flags }: Command): readonly string[] => Object.keys({ ...flags, ...COMMON_FLAGS });
const firstWords = (commands: readonly Command[]): readonly string[] => [
  ...new Set(commands.map(({ name }) => name.split(' ')[0] ?? '')),
];
const secondWords = (commands: readonly Command[], first: string): readonly string[] =>
  commands.flatMap(({ name }) => (name.startsWith(`${first} `) ? [name.slice(first.length + 1)] : []));

function bash(commands: readonly Command[]): string {
  const dashed = (command: Command): string =>
    flagsOf(command)
      .map((flag) => `--${flag}`)
      .join(' ');
  const groups = firstWords(commands).flatMap((first) => {
    const words = secondWords(commands, first);
    return words.length === 0 ? [] : [`    ${first}) list="$list ${words.join(' ')}" ;;`];
  });
  const flags = [...commands]
    .sort((a, b) => b.name.length - a.name.length)
    .map((command) => `    "${command.name} "*) flags="${dashed(command)}" ;;`);
  return `# Completion of basa for bash; written by: basa completion bash
_basa() {
  local current="\${COMP_WORDS[COMP_CWORD]}" typed="\${COMP_WORDS[*]:1:COMP_CWORD-1} " list='' flags=''
  case "$typed" in
    ' ') list="${firstWords(commands).join(' ')} --help --version" ;;
${flags.join('\n')}
  esac
  if [ "$COMP_CWORD" -eq 2 ]; then case "\${COMP_WORDS[1]}" in
${groups.join('\n')}
  esac; fi
  COMPREPLY=($(compgen -W "$list $flags" -- "$current"))
}
complete -o default -F _basa basa`;
}

/** zsh runs completions of bash. */
function zsh(commands: readonly Command[]): string {
  return `autoload -U +X bashcompinit && bashcompinit\n${bash(commands)}`;
}

function fish(commands: readonly Command[]): string {
  const quoted = (text: string): string => `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
  const seen = (words: string): string => `__fish_seen_subcommand_from ${words}`;
  const firsts = firstWords(commands).map((first) => {
    const about = commands.find(({ name }) => name === first)?.summary ?? secondWords(commands, first).join(', ');
    return `complete -c basa -n __fish_use_subcommand -f -a ${first} -d ${quoted(about)}`;
  });
  const rest = commands.flatMap((command) => {
    const [first = '', second] = command.name.split(' ');
    const others = secondWords(commands, first).join(' ');
    const isOpen = `${seen(first)}; and not ${seen(others)}`;
    const isHere = second !== undefined ? `${seen(first)}; and ${seen(second)}` : others === '' ? seen(first) : isOpen;
    const word =
      second === undefined
        ? []
        : [`complete -c basa -n ${quoted(isOpen)} -f -a ${second} -d ${quoted(command.summary)}`];
    return [...word, ...flagsOf(command).map((flag) => `complete -c basa -n ${quoted(isHere)} -l ${flag}`)];
  });
  return ['# Completion of basa for fish; written by: basa completion fish', ...firsts, ...rest].join('\n');
}
