/** `basa keys rotate-vault`: changes the passphrase or key file of the authority's sealed keys. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CONFIG_FLAGS, placesOf } from '../flags/places.ts';
import { type Command, CommandError, type CommandInput, command } from '../shell/command.ts';
import { text } from '../shell/flag.ts';
import { counted } from '../shell/terminal.ts';

const VARIABLE = 'BASA_AUTHORITY_NEW_PASSPHRASE';

const FLAGS = {
  ...CONFIG_FLAGS,
  'new-key-file': text({
    value: 'file',
    help: 'file with 32 random bytes; to create it: head -c 32 /dev/urandom > new.key; chmod 600 new.key',
  }),
  'new-passphrase-file': text({
    value: 'file',
    help: `file with a new passphrase, instead of a key file (variable with the passphrase: ${VARIABLE})`,
  }),
};

export const keysRotateVault: Command = command({
  name: 'keys rotate-vault',
  summary: "encrypt the authority's keys with another passphrase or key file",
  flags: FLAGS,
  notes: [
    'First stop the authority. The configuration must still name the current secret; change it afterwards.',
    'Either all keys are encrypted again or none. Older backups still need the old secret: keep it, or destroy those backups.',
  ],
  async run(input) {
    const fresh = await secretOf(input);
    const { rotateVault } = await import('@basa/authority');
    const { sealedKeys } = await rotateVault(placesOf(input), fresh);
    const what = 'keyFile' in fresh ? `"keyFile": "${resolve(fresh.keyFile)}"` : 'the new passphrase';
    input.terminal.line(
      `encrypted the signing key and ${counted(sealedKeys, 'secret')} again; start the authority with ${what}`,
    );
    return { json: { sealedKeys } };
  },
});

async function secretOf({
  flags,
  environment,
}: CommandInput<typeof FLAGS>): Promise<{ readonly keyFile: string } | { readonly passphrase: string }> {
  const { 'new-key-file': keyFile, 'new-passphrase-file': file } = flags;
  const passphrase = file === undefined ? environment[VARIABLE] : await read(file);
  if (keyFile !== undefined && passphrase === undefined) return { keyFile };
  if (passphrase !== undefined && keyFile === undefined) return { passphrase };
  throw new CommandError(
    `give exactly one new secret: --new-key-file, --new-passphrase-file, or the variable ${VARIABLE}`,
  );
}

async function read(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).replace(/\r?\n$/, '');
  } catch (error) {
    throw new CommandError(`--new-passphrase-file: ${(error as Error).message}`);
  }
}
