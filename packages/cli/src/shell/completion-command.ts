/** `basa completion`: a script with which a shell completes commands and flags. */
import { type Command, CommandError, command } from './command.ts';
import { completionScript, SHELLS } from './completion.ts';

/** `commands`: all of them, this one included. */
export const completionOf = (commands: () => readonly Command[]): Command =>
  command({
    name: 'completion',
    summary: 'prints a script with which bash, zsh or fish completes commands and flags',
    takes: { '<shell>': SHELLS.join(', ') },
    flags: {},
    notes: [
      'It completes the command basa, so that must be on the path: npm install --global.',
      'bash: basa completion bash > ~/.local/share/bash-completion/completions/basa',
      'zsh:  basa completion zsh > ~/.basa-completion.zsh, and in ~/.zshrc after compinit: source ~/.basa-completion.zsh',
      'fish: basa completion fish > ~/.config/fish/completions/basa.fish',
    ],
    async run({ positionals: [shell = ''], terminal }) {
      const script = completionScript(shell, commands());
      if (script === undefined) throw new CommandError(`say which shell: ${SHELLS.join(', ')}, got "${shell}"`);
      terminal.line(script);
      return { json: { shell, script } };
    },
  });
