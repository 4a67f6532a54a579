/** `basa device list`: lists the enrolled devices. */
import type { AuthorityOperator } from '@basa/client/operator';
import { AUTHORITY_FLAGS, authorityOperator, SERVER_FLAGS, serverOperator } from '../flags/connection.ts';
import { short } from '../flags/names.ts';
import { agreedTask, fromAll } from '../flags/which.ts';
import { type Command, type CommandInput, command } from '../shell/command.ts';
import { text } from '../shell/flag.ts';
import { table } from '../shell/terminal.ts';
import { deviceFolders } from './device-folders.ts';
import { type LastContribution, lastContributions, MAX_VERSIONS } from './last-contributions.ts';

const FLAGS = {
  task: text({
    value: 'task',
    help: 'list only the devices of this task: its name or first digits',
    variable: 'BASA_TASK',
    without: 'all tasks',
  }),
  folders: text({ value: 'path', help: 'search for device folders below this one', default: '.' }),
  ...SERVER_FLAGS,
  ...AUTHORITY_FLAGS,
  server: text({
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
    const authority = await authorityOperator(input);
    const all = authority.owned();
    const { task: asked } = input.flags;
    const wanted = asked === undefined ? undefined : await agreedTask(asked, authority);
    const known = new Map((await fromAll(all, (one) => one.tasks())).flat().map((one) => [one.task, one]));
    const tasks = [...known.values()].filter(({ task }) => wanted === undefined || task === wanted);
    const folders = await deviceFolders(input.flags.folders);
    const lists = await Promise.all(
      tasks.map(async ({ task, name }) => {
        const enrolled = merged(await fromAll(all, (one) => one.devices(task)));
        const last = await lastOf(input, task, enrolled.length);
        return enrolled.map((device) => ({
          ...device,
          task,
          taskName: name,
          ...optional('folder', folders.get(device.deviceKey)),
          ...optional('lastContribution', last.get(device.user)),
        }));
      }),
    );
    const devices = lists.flat();
    const letIn = await Promise.all(
      tasks.map(async ({ task, name }) => ({ task, name, by: await authority.deviceCounts(task) })),
    );
    const rows = devices.map(({ user, deviceKey, folder, task, taskName, lastContribution, ...device }) => [
      short(user),
      short(deviceKey),
      folder ?? '-',
      `${taskName} (${short(task)})`,
      lastContribution === undefined
        ? `none in the last ${MAX_VERSIONS} versions`
        : `version ${lastContribution.version}, ${day(lastContribution.at)}`,
      stateOf(device, all.length),
    ]);
    input.terminal.line(
      devices.length === 0
        ? 'no device is enrolled; `basa keys enroll` lets devices in'
        : table([['user', 'device key', 'folder', 'task', 'last contribution', 'state'], ...rows]),
    );
    for (const { task, name, by } of letIn) {
      const counts = by.map(({ authority: url, devices: number }) => `${number ?? 'unknown'} at ${url}`);
      input.terminal.line(`let into ${name} (${short(task)}): ${counts.join(', ')}`);
    }
    return { json: { devices, letIn: letIn.map(({ task, by }) => ({ task, by })) } };
  },
});

/** Returns undefined if no server is given. */
async function lastOf(
  input: CommandInput<typeof FLAGS>,
  task: string,
  devices: number,
): Promise<ReadonlyMap<string, LastContribution>> {
  const { server } = input.flags;
  if (server === undefined) return new Map();
  return lastContributions(await serverOperator({ ...input, flags: { ...input.flags, server } }), task, devices);
}

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

function optional<Name extends string, Value>(name: Name, value: Value | undefined): { readonly [K in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [K in Name]?: Value });
}

function day(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
