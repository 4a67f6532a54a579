/** `basa device list`: who is enrolled. */
import { type Command, textFlag } from '../command.ts';
import { short } from '../names.ts';
import { table } from '../terminal.ts';
import { AUTHORITY_FLAGS, AUTHORITY_USAGE, authorityOperator } from './connection.ts';
import { taskFlag } from './which.ts';

export const deviceList: Command = {
  name: 'device list',
  summary: 'lists the devices that are enrolled, and those that are revoked',
  usage: `  --task <task>        only of this task: its name, or its first digits (all tasks, or BASA_TASK)
${AUTHORITY_USAGE}`,
  flags: { task: { type: 'string' }, ...AUTHORITY_FLAGS },
  async run(input) {
    const authority = await authorityOperator(input);
    const asked = textFlag(input, 'task') ?? input.environment['BASA_TASK'];
    const wanted = asked === undefined ? undefined : await taskFlag(input, authority);
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
};

function day(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
