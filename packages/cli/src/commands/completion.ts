/** `basa completion`: a script with which a shell completes commands and flags. */
import { type Command, CommandError } from '../command.ts';
import { completionScript, SHELLS } from '../completion.ts';

/** `commands`: all of them, this one included. */
export const completionOf = (commands: () => readonly Command[]): Command => ({
  name: 'completion',
  summary: 'prints a script with which bash, zsh or fish completes commands and flags',
  usage: `  <shell>              ${SHELLS.join(', ')}
  It completes the command basa, so that must be on the path: npm install --global.
  bash: basa completion bash > ~/.local/share/bash-completion/completions/basa
  zsh:  basa completion zsh > ~/.basa-completion.zsh, and in ~/.zshrc after compinit: source ~/.basa-completion.zsh
  fish: basa completion fish > ~/.config/fish/completions/basa.fish`,
  flags: {},
  positionals: 1,
  async run({ positionals: [shell = ''], terminal }) {
    const script = completionScript(shell, commands());
    if (script === undefined) throw new CommandError(`say which shell: ${SHELLS.join(', ')}, got "${shell}"`);
    terminal.line(script);
    return { json: { shell, script } };
  },
});
