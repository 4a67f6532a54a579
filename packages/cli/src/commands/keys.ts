/** `basa keys ...`: who may take part. */

import type { AuthorityOperator } from '@basa/client/operator';
import { type Command, needed, numberFlag, textFlag, textFlags } from '../command.ts';
import { short } from '../names.ts';
import { counted } from '../terminal.ts';
import { AUTHORITY_FLAGS, AUTHORITY_USAGE, authorityOperator } from './connection.ts';
import { deviceNamed, taskFlag } from './which.ts';

export const keysEnroll: Command = {
  name: 'keys enroll',
  summary: 'makes one-time tokens for devices, or allows device keys',
  usage: `  --task <task>        its name, or its first digits (BASA_TASK)
  --count <n>          how many tokens, at most 1000 (1)
  --hours <n>          how long the tokens can be used (24)
  --device-key <hex>   allow this device instead; may be repeated
${AUTHORITY_USAGE}`,
  flags: {
    ...textFlags('task', 'count', 'hours'),
    'device-key': { type: 'string', multiple: true },
    ...AUTHORITY_FLAGS,
  },
  async run(input) {
    const keys = input.values['device-key'];
    if (Array.isArray(keys)) {
      const authority = await authorityOperator(input);
      const allowed = await authority.allow(await taskFlag(input, authority), keys);
      input.terminal.line(`${counted(allowed, 'device')} allowed`);
      return { json: { allowed } };
    }
    // Given again, the command would make other tokens.
    const authority = await authorityOperator(input, 'devices enrol there, and need no token for this one');
    const task = await taskFlag(input, authority);
    const hours = numberFlag(input, 'hours', { min: 1, fallback: 24 });
    const count = numberFlag(input, 'count', { min: 1, max: 1000, fallback: 1 });
    const tokens = await authority.tokens(task, count, Date.now() + hours * 3_600_000);
    for (const token of tokens) input.terminal.line(token);
    return { json: { tokens } };
  },
};

export const keysRevoke: Command = {
  name: 'keys revoke',
  summary: 'ends the enrolment of a device: at once at the authority, within seconds at the server',
  usage: `  --user <hex>         the device, by the first digits of its user id (SHA-256 of its key)
  --device-key <hex>   or by those of its key; \`basa device list\` shows both
  The device is revoked in every task, for good. To let it take part again, enrol it in a new folder: it gets a new key.
${AUTHORITY_USAGE}`,
  flags: { user: { type: 'string' }, 'device-key': { type: 'string' }, ...AUTHORITY_FLAGS },
  async run(input) {
    const authority = await authorityOperator(input);
    const key = textFlag(input, 'device-key');
    const user =
      key === undefined ? await deviceNamed(needed(input, 'user'), 'user', authority) : await userOf(key, authority);
    await authority.revoke(user);
    input.terminal.line(`${short(user)} is revoked`);
    return { json: { revoked: user } };
  },
};

async function userOf(deviceKey: string, authority: AuthorityOperator): Promise<string> {
  const { fromHex, toHex } = await import('@basa/masking');
  const bytes = fromHex(deviceKey);
  if (bytes?.length !== 32) return deviceNamed(deviceKey, 'deviceKey', authority);
  const { userIdOf } = await import('@basa/protocol');
  const { nodeSuite } = await import('@basa/runtime/node');
  return toHex(userIdOf(nodeSuite, bytes));
}
