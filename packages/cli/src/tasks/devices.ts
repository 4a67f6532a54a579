/** `basa keys ...`: tokens of devices, and the devices that an owner lets in. */

import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AuthorityOperator, ServerOperator } from '@basa/client/operator';
import * as operators from '../flags/services.ts';
import * as flag from '../shell/command.ts';
import { type Command, CommandError, command, contentOf, defined } from '../shell/command.ts';
import { counted, table } from '../shell/terminal.ts';

export const keysMake: Command = command({
  name: 'keys make',
  summary: 'make enrolment tokens for your devices, and the file of hashes that each owner of an authority registers',
  flags: {
    count: flag.whole({ help: 'number of tokens, one for each device', min: 1, max: 100_000, default: 1 }),
    'authority-key': flag.needed({
      value: 'hex',
      help: 'public key of the authority, or several separated by commas',
      variable: 'BASA_AUTHORITY_KEY',
    }),
    out: flag.text({ value: 'folder', help: 'folder for the files; it must not exist yet', default: 'enrolment' }),
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
    task: flag.needed({ value: 'task', help: 'name or first digits of the task', variable: 'BASA_TASK' }),
    hashes: flag.text({
      value: 'file',
      help: 'file that `basa keys make` wrote for this authority, or the folder with it',
    }),
    hours: flag.whole({ help: 'number of hours in which the devices have to enrol', min: 1, default: 24 }),
    'device-key': flag.texts({ value: 'hex', help: 'allow the device with this key, instead of --hashes' }),
    ...operators.AUTHORITY_FLAGS,
  },
  async run(input) {
    const { hashes: path, hours, task: named, 'device-key': keys } = input.flags;
    if ((path === undefined) === (keys.length === 0))
      throw new CommandError('name the devices with --hashes, which `basa keys make` wrote, or with --device-key');
    const registered = path === undefined ? undefined : await readHashes(path);
    const authority = await operators.authorityOperator(input);
    const task = await operators.agreedTask(named, authority);
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
    user: flag.text({ value: 'hex', help: 'first digits of the user id of the device (SHA-256 of its key)' }),
    'device-key': flag.text({
      value: 'hex',
      help: 'first digits of the key of the device, instead of --user; `basa device list` shows both',
    }),
    ...operators.AUTHORITY_FLAGS,
  },
  notes: [
    'The device is revoked in every task, permanently. To let it take part again, enrol it in a new folder, where it gets a new key.',
  ],
  async run(input) {
    const { user: asked = '', 'device-key': key } = input.flags;
    if (asked === '' && key === undefined)
      throw new CommandError('name the device with --user or --device-key; `basa device list` shows both');
    const authority = await operators.authorityOperator(input);
    const user =
      key === undefined ? await operators.agreedDevice(asked, 'user', authority) : await userOf(key, authority);
    await authority.revoke(user);
    input.terminal.line(`${user} is revoked`);
    return { json: { revoked: user } };
  },
});

async function userOf(deviceKey: string, authority: AuthorityOperator): Promise<string> {
  const { fromHex, toHex } = await import('@basa/masking');
  const bytes = fromHex(deviceKey);
  if (bytes?.length !== 32) return operators.agreedDevice(deviceKey, 'deviceKey', authority);
  const { Devices } = await import('@basa/protocol/wire');
  const { nodeSuite } = await import('@basa/runtime/node');
  return toHex(Devices.userIdOf(nodeSuite, bytes));
}

const FLAGS = {
  task: flag.text({
    value: 'task',
    help: 'list only the devices of this task: its name or first digits',
    variable: 'BASA_TASK',
    without: 'all tasks',
  }),
  ...operators.SERVER_FLAGS,
  ...operators.AUTHORITY_FLAGS,
  server: flag.text({
    value: 'url',
    help: 'address of the server, which knows the last contribution of each device',
    variable: 'BASA_SERVER',
  }),
};

export const deviceList: Command = command({
  name: 'device list',
  summary: 'list the devices that you let in, with their last contributions, and how many each other owner let in',
  flags: FLAGS,
  async run(input) {
    const authority = await operators.authorityOperator(input);
    const all = authority.owned();
    const { task: asked, server: url } = input.flags;
    const server =
      url === undefined
        ? undefined
        : await operators.serverOperator({ ...input, flags: { ...input.flags, server: url } });
    const wanted = asked === undefined ? undefined : await operators.agreedTask(asked, authority);
    const known = new Map((await operators.fromAll(all, (one) => one.tasks())).flat().map((one) => [one.task, one]));
    const tasks = [...known.values()].filter(({ task }) => wanted === undefined || task === wanted);
    const lists = await Promise.all(
      tasks.map(async ({ task, name }) => {
        const enrolled = merged(await operators.fromAll(all, (one) => one.devices(task)));
        const last = server === undefined ? undefined : await lastContributions(server, task, enrolled.length);
        return enrolled.map((device) => ({
          ...device,
          task,
          taskName: name,
          ...defined({ lastContribution: last?.get(device.user) }),
        }));
      }),
    );
    const devices = lists.flat();
    const letIn = await Promise.all(
      tasks.map(async ({ task, name }) => ({ task, name, by: await authority.deviceCounts(task) })),
    );
    const rows = devices.map(({ user, deviceKey, task, taskName, lastContribution, ...device }) => [
      operators.short(user),
      operators.short(deviceKey),
      `${taskName} (${operators.short(task)})`,
      lastContribution === undefined
        ? `none in the last ${MAX_VERSIONS} versions`
        : `version ${lastContribution.version}, ${day(lastContribution.at)}`,
      stateOf(device, all.length),
    ]);
    input.terminal.line(
      devices.length === 0
        ? 'no device is enrolled; `basa keys enroll` lets devices in'
        : table([['user', 'device key', 'task', 'last contribution', 'state'], ...rows]),
    );
    for (const { task, name, by } of letIn) {
      const counts = by.map(({ authority: url, devices: number }) => `${number ?? 'unknown'} at ${url}`);
      input.terminal.line(`let into ${name} (${operators.short(task)}): ${counts.join(', ')}`);
    }
    return { json: { devices, letIn: letIn.map(({ task, by }) => ({ task, by })) } };
  },
});

type EnrolledDevice = Awaited<ReturnType<AuthorityOperator['devices']>>[number];

/** A device with the number of authorities that list it: one of them could hide devices or invent some. */
interface ListedDevice extends EnrolledDevice {
  readonly listedBy: number;
  readonly revokedBy: number;
}

function merged(lists: readonly (readonly EnrolledDevice[])[]): readonly ListedDevice[] {
  const devices = new Map<string, ListedDevice>();
  for (const one of lists.flat()) {
    const known = devices.get(one.user) ?? { ...one, listedBy: 0, revokedBy: 0 };
    devices.set(one.user, {
      ...one,
      revoked: one.revoked || known.revoked,
      listedBy: known.listedBy + 1,
      revokedBy: known.revokedBy + (one.revoked ? 1 : 0),
    });
  }
  return [...devices.values()].sort((a, b) => (a.user < b.user ? -1 : 1));
}

function stateOf({ listedBy, revokedBy }: Pick<ListedDevice, 'listedBy' | 'revokedBy'>, authorities: number): string {
  const by = (count: number): string => (count === authorities ? '' : ` by ${count} of ${authorities}`);
  if (revokedBy > 0) return `revoked${by(revokedBy)}`;
  return listedBy === authorities ? 'enrolled' : `enrolled, listed${by(listedBy)}`;
}

function day(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** Older versions are not requested, because each takes a request. */
const MAX_VERSIONS = 100;

/** By user. A device without an entry was in none of the newest versions, or the server does not record their members. */
async function lastContributions(server: ServerOperator, task: string, devices: number) {
  const last = new Map<string, { readonly version: number; readonly at: number }>();
  const versions = (await server.versions(task).catch(notThere)) ?? [];
  for (const { version, at, sums } of versions.slice(-MAX_VERSIONS).reverse()) {
    if (version === 0 || last.size >= devices) break;
    const batches = await Promise.all(sums.map((ctx) => server.batch(ctx).catch(notThere)));
    for (const user of batches.flatMap((batch) => batch?.users ?? []))
      if (!last.has(user)) last.set(user, { version, at });
  }
  return last;
}

/** A task of another server, or a batch whose facts were removed. */
function notThere(error: Error): undefined {
  if (error.name === 'ProblemError' && (error as Error & { status?: number }).status === 404) return undefined;
  throw error;
}

type ExportedDevices = Awaited<ReturnType<AuthorityOperator['exportDevices']>>[number];

export const deviceExport: Command = command({
  name: 'device export',
  summary:
    'write the devices of a task into a file, signed for the task that succeeds it, as the owner of an authority',
  flags: {
    task: flag.needed({ value: 'task', help: 'name or first digits of the task', variable: 'BASA_TASK' }),
    successor: flag.needed({ value: 'hex', help: 'the task that succeeds it, all 64 digits' }),
    out: flag.text({ value: 'folder', help: 'folder for the file of each authority', default: 'exported-devices' }),
    ...operators.AUTHORITY_FLAGS,
  },
  notes: ['Finish the task first (`basa task finish`): what its devices spend later is not in the file.'],
  async run(input) {
    const { task: named, successor, out } = input.flags;
    if (!/^[0-9a-f]{64}$/.test(successor))
      throw new CommandError(`--successor takes the 64 digits that \`basa task create\` prints, got "${successor}"`);
    const authority = await operators.authorityOperator(input);
    const told = await authority.exportDevices(await operators.agreedTask(named, authority), successor);
    await mkdir(out, { recursive: true, mode: 0o700 });
    const files: string[] = [];
    for (const one of told) {
      const file = join(out, `${one.authority.slice(0, 16)}.json`);
      await writeFile(file, `${JSON.stringify(one)}\n`, { mode: 0o600 });
      files.push(file);
    }
    input.terminal.line(
      'Give these files to the owners of the authorities of the successor, for `basa device import`:',
    );
    for (const file of files) input.terminal.line(`  ${file}`);
    return { json: { files } };
  },
});

export const deviceImport: Command = command({
  name: 'device import',
  summary: 'let in the devices of the task before this one, as the owner of an authority',
  takes: { '<file>': 'file that `basa device export` wrote; name those of all authorities of the task before' },
  takesMany: true,
  flags: {
    task: flag.needed({ value: 'task', help: 'name or first digits of the successor', variable: 'BASA_TASK' }),
    ...operators.AUTHORITY_FLAGS,
  },
  notes: [
    'A device is let in, or stays revoked, if more authorities of the task before say so than may collude there. It then connects with its folder and `--predecessor`.',
  ],
  async run(input) {
    if (input.positionals.length === 0)
      throw new CommandError('name the files that `basa device export` wrote at the authorities of the task before');
    const files = await Promise.all(input.positionals.map(readExport));
    const authority = await operators.authorityOperator(input);
    const task = await operators.agreedTask(input.flags.task, authority);
    let told = { enrolled: 0, revoked: 0, unknown: 0 };
    for (const file of files) told = await authority.importDevices(task, file);
    input.terminal.line(`${counted(told.enrolled, 'device')} may enrol, ${told.revoked} revoked`);
    if (told.unknown > 0)
      input.terminal.warn(
        `${counted(told.unknown, 'device')} of too few authorities; import the files of the other authorities too`,
      );
    return { json: told };
  },
});

function readExport(path: string): Promise<ExportedDevices> {
  return contentOf('', path, (text) => {
    const { authority, policy, pages } = Object(JSON.parse(String(text))) as Partial<ExportedDevices>;
    if (typeof authority !== 'string' || typeof policy !== 'string' || !Array.isArray(pages) || pages.length === 0)
      throw new Error('it has no devices');
    return { authority, policy, pages: pages.map(String) };
  });
}
