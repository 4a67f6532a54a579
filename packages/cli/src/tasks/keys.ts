/** `basa keys ...`: tokens and lists of devices that may take part. */

import type { AuthorityOperator } from '@basa/client/operator';
import { AUTHORITY_FLAGS, authorityOperator } from '../flags/connection.ts';
import { agreedDevice, agreedTask } from '../flags/which.ts';
import { type Command, CommandError, command } from '../shell/command.ts';
import { needed, text, texts, whole } from '../shell/flag.ts';
import { counted } from '../shell/terminal.ts';

export const keysEnroll: Command = command({
  name: 'keys enroll',
  summary: 'create one-time enrolment tokens for devices, or allow devices by their keys',
  flags: {
    task: needed({ value: 'task', help: 'name or first digits of the task', variable: 'BASA_TASK' }),
    count: whole({ help: 'number of tokens, at most 1000', min: 1, max: 1000, default: 1 }),
    hours: whole({ help: 'number of hours for which the tokens are valid', min: 1, default: 24 }),
    'device-key': texts({ value: 'hex', help: 'allow the device with this key, instead of creating tokens' }),
    ...AUTHORITY_FLAGS,
  },
  async run(input) {
    const { count, hours, task: named, 'device-key': keys } = input.flags;
    if (keys.length > 0) {
      const authority = await authorityOperator(input);
      const allowed = await authority.allow(await agreedTask(named, authority), keys);
      input.terminal.line(`allowed ${counted(allowed, 'device')}`);
      return { json: { allowed } };
    }
    // A repeated command would make other tokens.
    const authority = await authorityOperator(input, 'devices can enrol there, and need no token for this authority');
    const task = await agreedTask(named, authority);
    const tokens = await authority.tokens(task, count, Date.now() + hours * 3_600_000);
    for (const token of tokens) input.terminal.line(token);
    return { json: { tokens } };
  },
});

export const keysRevoke: Command = command({
  name: 'keys revoke',
  summary: 'revoke a device: immediately at the authority, within seconds at the server',
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
  const { userIdOf } = await import('@basa/protocol');
  const { nodeSuite } = await import('@basa/runtime/node');
  return toHex(userIdOf(nodeSuite, bytes));
}
