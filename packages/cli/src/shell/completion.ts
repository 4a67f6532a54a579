/** `basa completion`: a script with which a shell completes commands and flags. */
import { COMMON_FLAGS, type Command, CommandError, command } from './command.ts';

/** `commands`: all of them, this one included. */
export const completionOf = (commands: () => readonly Command[]): Command =>
  command({
    name: 'completion',
    summary: 'print a script that completes commands and flags in bash, zsh or fish',
    takes: { '<shell>': SHELLS.join(', ') },
    flags: {},
    notes: [
      'The script completes the command `basa`, which must be on your path: install it with npm install --global.',
      'bash: basa completion bash > ~/.local/share/bash-completion/completions/basa',
      'zsh:  basa completion zsh > ~/.basa-completion.zsh, and in ~/.zshrc after compinit: source ~/.basa-completion.zsh',
      'fish: basa completion fish > ~/.config/fish/completions/basa.fish',
    ],
    async run({ positionals: [shell = ''], terminal }) {
      const script = completionScript(shell, commands());
      if (script === undefined)
        throw new CommandError(
          shell === ''
            ? `name a shell: ${SHELLS.join(', ')}`
            : `there is no script for the shell "${shell}"; choose one of ${SHELLS.join(', ')}`,
        );
      terminal.line(script);
      return { json: { shell, script } };
    },
  });

/** Each script completes the next word of the command line. */
const WRITERS = { bash, zsh, fish } as const;
const SHELLS: readonly string[] = Object.keys(WRITERS);
const TOP_FLAGS = ['help', 'version'];

function completionScript(shell: string, commands: readonly Command[]): string | undefined {
  return Object.hasOwn(WRITERS, shell) ? WRITERS[shell as keyof typeof WRITERS](commands) : undefined;
}

const flagsOf = ({ flags }: Command): readonly string[] => Object.keys({ ...flags, ...COMMON_FLAGS });
const dashed = (flags: readonly string[]): string => flags.map((flag) => `--${flag}`).join(' ');
const firstWords = (commands: readonly Command[]): readonly string[] => [
  ...new Set(commands.map(({ name }) => name.split(' ')[0] ?? '')),
];
const groupOf = (commands: readonly Command[], first: string): readonly Command[] =>
  commands.filter(({ name }) => name.startsWith(`${first} `));
const secondWord = ({ name }: Command): string => name.split(' ')[1] ?? '';
/** `task create` before `task`: the first that fits is the right one. */
const longestFirst = (commands: readonly Command[]): readonly Command[] =>
  [...commands].sort((a, b) => b.name.split(' ').length - a.name.split(' ').length);

/** The description of a first word: a command's summary, or the commands of the group. A hint in backticks loses them. */
function aboutFirst(commands: readonly Command[], first: string): string {
  const command = commands.find(({ name }) => name === first);
  return command === undefined ? groupOf(commands, first).map(secondWord).join(', ') : aboutOf(command);
}
function aboutOf({ summary }: Command): string {
  return summary.replaceAll('`', '');
}

function bash(commands: readonly Command[]): string {
  const groups = firstWords(commands).flatMap((first) => {
    const words = groupOf(commands, first).map(secondWord);
    return words.length === 0 ? [] : [`    ${first}) list="$list ${words.join(' ')}" ;;`];
  });
  const flags = longestFirst(commands).map(
    (command) => `    "${command.name} "*) flags="${dashed(flagsOf(command))}" ;;`,
  );
  return `# Completion of basa for bash; written by: basa completion bash
_basa() {
  local current="\${COMP_WORDS[COMP_CWORD]}" typed="\${COMP_WORDS[*]:1:COMP_CWORD-1} " list='' flags=''
  case "$typed" in
    ' ') list="${firstWords(commands).join(' ')} ${dashed(TOP_FLAGS)}" ;;
${flags.join('\n')}
  esac
  if [ "$COMP_CWORD" -eq 2 ]; then case "\${COMP_WORDS[1]}" in
${groups.join('\n')}
  esac; fi
  COMPREPLY=($(compgen -W "$list $flags" -- "$current"))
}
complete -o default -F _basa basa`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** After compinit, which the user's own .zshrc calls. Words get descriptions, and other positions complete files. */
function zsh(commands: readonly Command[]): string {
  const described = (word: string, about: string): string => quoted(`${word}:${about.replaceAll(':', '\\:')}`);
  const firsts = firstWords(commands).map((first) => described(first, aboutFirst(commands, first)));
  const groups = firstWords(commands).flatMap((first) => {
    const seconds = groupOf(commands, first).map((command) => described(secondWord(command), aboutOf(command)));
    return seconds.length === 0 ? [] : [`      ${first}) list=(${seconds.join(' ')}) ;;`];
  });
  const flags = longestFirst(commands).map(
    ({ name, ...command }) => `    ${quoted(`${name} `)}*) flags=(${dashed(flagsOf({ name, ...command }))}) ;;`,
  );
  return `# Completion of basa for zsh; written by: basa completion zsh
_basa() {
  local -a list flags
  case "\${(j: :)words[2,CURRENT-1]} " in
    ' ') list=(${firsts.join(' ')}); flags=(${dashed(TOP_FLAGS)}) ;;
${flags.join('\n')}
  esac
  if (( CURRENT == 3 )); then
    case "\${words[2]}" in
${groups.join('\n')}
    esac
  fi
  if [[ "$PREFIX" == -* ]]; then compadd -- $flags
  elif (( $#list > 0 )); then _describe command list
  else _files
  fi
}
compdef _basa basa`;
}

function fish(commands: readonly Command[]): string {
  const text = (words: string): string => `'${words.replaceAll(/['\\]/g, '\\$&')}'`;
  const doubles = commands.filter(({ name }) => name.includes(' ')).map(({ name }) => text(name));
  const flag = (condition: string, name: string, needsValue: boolean): string =>
    `complete -c basa -n ${text(condition)} -l ${name}${needsValue ? ' -r' : ''}`;
  const firsts = firstWords(commands).map(
    (first) => `complete -c basa -n '__basa_typed ""' -f -a ${first} -d ${text(aboutFirst(commands, first))}`,
  );
  const seconds = firstWords(commands).flatMap((first) =>
    groupOf(commands, first).map(
      (command) =>
        `complete -c basa -n '__basa_typed ${first}; and test (count (commandline -opc)) -eq 2' -f -a ${secondWord(command)} -d ${text(aboutOf(command))}`,
    ),
  );
  const flags = commands.flatMap((command) =>
    flagsOf(command).map((name) =>
      flag(`__basa_typed "${command.name}"`, name, command.flags[name]?.value !== undefined),
    ),
  );
  return `# Completion of basa for fish; written by: basa completion fish
function __basa_typed --argument-names name
    set -l words (commandline -opc)
    set -l typed "$words[2]"
    contains -- "$words[2] $words[3]" ${doubles.join(' ')}; and set typed "$words[2] $words[3]"
    test "$typed" = "$name"
end
${[...firsts, ...TOP_FLAGS.map((name) => flag('__basa_typed ""', name, false)), ...seconds, ...flags].join('\n')}`;
}
