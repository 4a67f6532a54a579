/** `basa keys ...`: tokens of devices, and the devices that an owner lets in. */
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AuthorityOperator } from '@basa/client/operator';
import { AUTHORITY_FLAGS, authorityOperator } from '../flags/connection.ts';
import { agreedDevice, agreedTask } from '../flags/which.ts';
import { type Command, CommandError, command } from '../shell/command.ts';
import { needed, text, texts, whole } from '../shell/flag.ts';
import { counted } from '../shell/terminal.ts';

export const keysMake: Command = command({
  name: 'keys make',
  summary: 'make enrolment tokens for your devices, and the file of hashes that each owner of an authority registers',
  flags: {
    count: whole({ help: 'number of tokens, one for each device', min: 1, max: 100_000, default: 1 }),
    'authority-key': needed({
      value: 'hex',
      help: 'public key of the authority, or several separated by commas',
      variable: 'BASA_AUTHORITY_KEY',
    }),
    out: text({ value: 'folder', help: 'folder for the files; it must not exist yet', default: 'enrolment' }),
  },
  notes: [
    'For the application or the directory that knows its users: neither the operator of the task nor the owner of an authority may see a token. It asks no service.',
  ],
  async run({ flags, terminal }) {
    const { out, count, 'authority-key': named } = flags;
    const { enrolmentHashes, newEnrolmentTokens } = await import('@basa/client/operator');
    const tokens = newEnrolmentTokens(count);
    const files = named.split(',').map((authority) => ({
      name: `${authority.slice(0, 16)}.json`,
      text: `${JSON.stringify({ authority, hashes: hashesOf(tokens, authority, enrolmentHashes) })}\n`,
    }));
    await mkdir(out, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      throw new CommandError(
        error.code === 'EEXIST' ? `${out} exists; name another folder with --out` : `--out ${out}: ${error.message}`,
      );
    });
    await writeFile(join(out, TOKENS_FILE), tokens.map((token) => `${token}\n`).join(''), { mode: 0o600 });
    for (const { name, text: body } of files) await writeFile(join(out, name), body, { mode: 0o600 });
    for (const token of tokens) terminal.line(`token ${token}`);
    terminal.line(`\nEach token is for one device, and in ${join(out, TOKENS_FILE)}. No service may see it.`);
    terminal.line('Send the owner of each authority its own file, for `basa keys enroll --hashes <file>`:');
    for (const { name } of files) terminal.line(`  ${join(out, name)}`);
    return { json: { tokens, files: files.map(({ name }) => join(out, name)) } };
  },
});

const TOKENS_FILE = 'tokens.txt';

function hashesOf(
  tokens: readonly string[],
  authority: string,
  hash: (tokens: readonly string[], key: string) => readonly string[],
): readonly string[] {
  try {
    return hash(tokens, authority);
  } catch {
    throw new CommandError(`--authority-key takes 64 hexadecimal digits for each authority, got "${authority}"`);
  }
}

export const keysEnroll: Command = command({
  name: 'keys enroll',
  summary: 'let devices in, as the owner of an authority: by the hashes of their tokens, or by their keys',
  flags: {
    task: needed({ value: 'task', help: 'name or first digits of the task', variable: 'BASA_TASK' }),
    hashes: text({ value: 'file', help: 'file that `basa keys make` wrote for this authority, or the folder with it' }),
    hours: whole({ help: 'number of hours in which the devices have to enrol', min: 1, default: 24 }),
    'device-key': texts({ value: 'hex', help: 'allow the device with this key, instead of --hashes' }),
    ...AUTHORITY_FLAGS,
  },
  async run(input) {
    const { hashes: path, hours, task: named, 'device-key': keys } = input.flags;
    if ((path === undefined) === (keys.length === 0))
      throw new CommandError('name the devices with --hashes, which `basa keys make` wrote, or with --device-key');
    const registered = path === undefined ? undefined : await readHashes(path);
    const authority = await authorityOperator(input);
    const task = await agreedTask(named, authority);
    if (registered === undefined) {
      const allowed = await authority.allow(task, keys);
      input.terminal.line(`allowed ${counted(allowed, 'device')}`);
      return { json: { allowed } };
    }
    const hashesFor = (key: string): readonly string[] => {
      const found = registered.get(key);
      if (found !== undefined) return found;
      throw new CommandError(
        `--hashes ${path} has none for the authority with the key ${key}; ask for the file of this authority`,
      );
    };
    const count = await authority.register(task, hashesFor, Date.now() + hours * 3_600_000);
    input.terminal.line(`registered ${counted(count, 'token')}, each for one device`);
    return { json: { registered: count } };
  },
});

/** The hashes for each authority, by its key. */
async function readHashes(path: string): Promise<ReadonlyMap<string, readonly string[]>> {
  try {
    const isFolder = (await stat(path)).isDirectory();
    const names = isFolder ? (await readdir(path)).filter((name) => name.endsWith('.json')) : [''];
    const files = names.map(async (name): Promise<readonly [string, readonly string[]]> => {
      const { authority, hashes } = Object(JSON.parse(await readFile(join(path, name), 'utf8'))) as Record<
        string,
        unknown
      >;
      if (typeof authority !== 'string' || !Array.isArray(hashes)) throw new Error('it has no hashes of tokens');
      return [authority, hashes.map(String)];
    });
    return new Map(await Promise.all(files));
  } catch (error) {
    throw new CommandError(`--hashes ${path}: ${(error as Error).message}`);
  }
}

export const keysRevoke: Command = command({
  name: 'keys revoke',
  summary: 'revoke a device: immediately at the authority, within a minute at the server',
  flags: {
    user: text({ value: 'hex', help: 'first digits of the user id of the device (SHA-256 of its key)' }),
    'device-key': text({
      value: 'hex',
      help: 'first digits of the key of the device, instead of --user; `basa device list` shows both',
    }),
    ...AUTHORITY_FLAGS,
  },
  notes: [
    'The device is revoked in every task, permanently. To let it take part again, enrol it in a new folder, where it gets a new key.',
  ],
  async run(input) {
    const { user: asked = '', 'device-key': key } = input.flags;
    if (asked === '' && key === undefined)
      throw new CommandError('name the device with --user or --device-key; `basa device list` shows both');
    const authority = await authorityOperator(input);
    const user = key === undefined ? await agreedDevice(asked, 'user', authority) : await userOf(key, authority);
    await authority.revoke(user);
    input.terminal.line(`${user} is revoked`);
    return { json: { revoked: user } };
  },
});

async function userOf(deviceKey: string, authority: AuthorityOperator): Promise<string> {
  const { fromHex, toHex } = await import('@basa/masking');
  const bytes = fromHex(deviceKey);
  if (bytes?.length !== 32) return agreedDevice(deviceKey, 'deviceKey', authority);
  const { userIdOf } = await import('@basa/protocol/wire');
  const { nodeSuite } = await import('@basa/runtime/node');
  return toHex(userIdOf(nodeSuite, bytes));
}
