/** `basa completion`: a script with which a shell completes commands and flags. */
import { type Command, CommandError, command } from './command.ts';
import { completionScript, SHELLS } from './completion.ts';

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
