/** `basa device list`: who is enrolled. */
import { AUTHORITY_FLAGS, authorityOperator } from '../flags/connection.ts';
import { short } from '../flags/names.ts';
import { taskNamed } from '../flags/which.ts';
import { type Command, command } from '../shell/command.ts';
import { text } from '../shell/flag.ts';
import { table } from '../shell/terminal.ts';

export const deviceList: Command = command({
  name: 'device list',
  summary: 'lists the devices that are enrolled, and those that are revoked',
  flags: {
    task: text({
      value: 'task',
      help: 'only of this task: its name, or its first digits',
      variable: 'BASA_TASK',
      without: 'all tasks, or BASA_TASK',
    }),
    ...AUTHORITY_FLAGS,
  },
  async run(input) {
    const authority = await authorityOperator(input);
    const { task: asked } = input.flags;
    const wanted = asked === undefined ? undefined : await taskNamed(asked, authority);
    const tasks = (await authority.tasks()).filter(({ task }) => wanted === undefined || task === wanted);
    const lists = await Promise.all(
      tasks.map(async ({ task, name }) =>
        (await authority.devices(task)).map((device) => ({ ...device, task, taskName: name })),
      ),
    );
    const devices = lists.flat();
    const rows = devices.map(({ user, deviceKey, task, taskName, issuedAt, notAfter, revoked }) => [
      short(user),
      short(deviceKey),
      `${taskName} (${short(task)})`,
      day(issuedAt),
      day(notAfter),
      revoked ? 'revoked' : notAfter < Date.now() ? 'to be renewed' : 'enrolled',
    ]);
    input.terminal.line(
      devices.length === 0
        ? 'no device is enrolled; `basa keys enroll` makes tokens'
        : table([['user', 'device key', 'task', 'certificate of', 'good until', 'state'], ...rows]),
    );
    return { json: { devices } };
  },
});

function day(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
