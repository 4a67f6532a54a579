/** `basa keys rotate-vault`: another passphrase or key file for what the authority keeps sealed. */
import { readFile } from 'node:fs/promises';
import { type Command, CommandError, type CommandInput, textFlag } from '../command.ts';
import { counted } from '../terminal.ts';
import { CONFIG_FLAGS, CONFIG_USAGE, placesOf } from './places.ts';

const VARIABLE = 'BASA_AUTHORITY_NEW_PASSPHRASE';

export const keysRotateVault: Command = {
  name: 'keys rotate-vault',
  summary: "seals the authority's keys with another passphrase or key file",
  usage: `${CONFIG_USAGE}
  --new-key-file <file>         32 random bytes: head -c 32 /dev/urandom > new.key; chmod 600 new.key
  --new-passphrase-file <file>  or a passphrase, from a file or the variable ${VARIABLE}
  Stop the authority first, all of its nodes. The configuration names the secret that holds now; change it afterwards.
  All of it is sealed anew or nothing. Backups from before still open with the old secret: destroy them or keep it.`,
  flags: { ...CONFIG_FLAGS, 'new-key-file': { type: 'string' }, 'new-passphrase-file': { type: 'string' } },
  async run(input) {
    const fresh = await secretOf(input);
    const { rotateVault } = await import('@basa/authority');
    const { masterKeys } = await rotateVault(placesOf(input), fresh);
    const what = 'keyFile' in fresh ? `keyFile: ${fresh.keyFile}` : 'the new passphrase';
    input.terminal.line(
      `the signing key and ${counted(masterKeys, 'master key')} are sealed anew; start the authority with ${what}`,
    );
    return { json: { masterKeys } };
  },
};

async function secretOf(input: CommandInput): Promise<{ readonly keyFile: string } | { readonly passphrase: string }> {
  const keyFile = textFlag(input, 'new-key-file');
  const file = textFlag(input, 'new-passphrase-file');
  const passphrase = file === undefined ? input.environment[VARIABLE] : await read(file);
  if (keyFile !== undefined && passphrase === undefined) return { keyFile };
  if (passphrase !== undefined && keyFile === undefined) return { passphrase };
  throw new CommandError(`give one of --new-key-file, --new-passphrase-file or the variable ${VARIABLE}`);
}

async function read(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).replace(/\r?\n$/, '');
  } catch (error) {
    throw new CommandError(`--new-passphrase-file: ${(error as Error).message}`);
  }
}
