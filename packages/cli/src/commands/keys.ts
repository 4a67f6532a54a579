/** `basa keys ...`: who may take part. */
import { fromHex, toHex } from '@basa/masking';
import { userIdOf } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import type { Command } from '../command.ts';
import { CommandError, needed, numberFlag, textFlag } from '../command.ts';
import { AUTHORITY_FLAGS, AUTHORITY_USAGE, authorityOperator } from './connection.ts';

export const keysEnroll: Command = {
  name: 'keys enroll',
  summary: 'makes one-time tokens for devices, or allows device keys',
  usage: `  --task <name>        64 hexadecimal digits (BASA_TASK)
  --count <n>          so many tokens, at most 1000 (1)
  --hours <n>          how long they are good (24)
  --device-key <hex>   allow this device instead; may be given again and again
${AUTHORITY_USAGE}`,
  flags: {
    task: { type: 'string' },
    count: { type: 'string' },
    hours: { type: 'string' },
    'device-key': { type: 'string', multiple: true },
    ...AUTHORITY_FLAGS,
  },
  async run(input) {
    const authority = authorityOperator(input);
    const task = needed(input, 'task', 'BASA_TASK');
    const keys = input.values['device-key'];
    if (Array.isArray(keys)) {
      const allowed = await authority.allow(task, keys);
      input.terminal.line(`${allowed} devices are allowed`);
      return { json: { allowed } };
    }
    const hours = numberFlag(input, 'hours', { least: 1, fallback: 24 });
    const count = numberFlag(input, 'count', { least: 1, most: 1000, fallback: 1 });
    const tokens = await authority.tokens(task, count, Date.now() + hours * 3_600_000);
    for (const token of tokens) input.terminal.line(token);
    return { json: { tokens } };
  },
};

export const keysRevoke: Command = {
  name: 'keys revoke',
  summary: 'ends the enrolment of a device: at once at the authority, within seconds at the server',
  usage: `  --user <hex>         SHA-256 of its device key
  --device-key <hex>   or the key itself
${AUTHORITY_USAGE}`,
  flags: { user: { type: 'string' }, 'device-key': { type: 'string' }, ...AUTHORITY_FLAGS },
  async run(input) {
    const key = textFlag(input, 'device-key');
    const user = key === undefined ? needed(input, 'user') : userOf(key);
    await authorityOperator(input).revoke(user);
    input.terminal.line(`${user} is revoked`);
    return { json: { revoked: user } };
  },
};

function userOf(deviceKey: string): string {
  const bytes = fromHex(deviceKey);
  if (bytes?.length !== 32) throw new CommandError('--device-key takes 64 hexadecimal digits');
  return toHex(userIdOf(nodeSuite, bytes));
}
