/** `basa task suspects`: devices beside which sums were spoilt; an operator clears or bans them. */
import type { SuspectState } from '@basa/client/operator';
import { type Command, CommandError, textFlag } from '../command.ts';
import { short, wholeName } from '../names.ts';
import { percent, table } from '../terminal.ts';
import { SERVER_FLAGS, SERVER_USAGE, serverOperator } from './connection.ts';
import { TASK_USAGE, taskArgument } from './which.ts';

const HEADINGS = ['user', 'suspicion', 'state', 'spoilt sums', 'suspended before', 'for more sums'];

export const taskSuspects: Command = {
  name: 'task suspects',
  summary: 'lists devices beside which sums were spoilt; clears or bans one',
  usage: `${TASK_USAGE}
  --clear <user>       take the suspicion from a device: its first digits in the list
  --ban <user>         give a device no seat any more, for good or until it is cleared: its whole user id, or its first digits in the list
  A spoilt sum names nobody. The suspicion says how likely it is that a device spoils sums, by who took part in which.
${SERVER_USAGE}`,
  flags: { clear: { type: 'string' }, ban: { type: 'string' }, ...SERVER_FLAGS },
  positionals: 1,
  async run(input) {
    const server = await serverOperator(input);
    const task = await taskArgument(input, server);
    const [clear, ban] = [textFlag(input, 'clear'), textFlag(input, 'ban')];
    if (clear !== undefined && ban !== undefined) throw new CommandError('give --clear or --ban, not both');
    const suspects = await server.suspects(task);
    const asked = clear ?? ban;
    if (asked !== undefined) {
      const list = async () => suspects.map(({ user }) => ({ hex: user }));
      const user = await wholeName(asked, { kind: 'device', listed: '`basa task suspects`' }, list);
      const decided = await server.decideSuspect(task, user, clear === undefined ? 'banned' : 'clear');
      input.terminal.line(`${short(user)} is ${decided.state === 'banned' ? 'banned' : 'cleared'}`);
      return { json: decided };
    }
    input.terminal.line(suspects.length === 0 ? 'no device is suspected' : table([HEADINGS, ...suspects.map(rowOf)]));
    return { json: { suspects } };
  },
};

function rowOf({ user, suspicion, state, spoilt, suspensions, sumsLeft }: SuspectState): string[] {
  return [short(user), percent(suspicion), state, String(spoilt), String(suspensions), String(sumsLeft ?? '-')];
}
