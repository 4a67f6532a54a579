/** `basa task suspects`: lists devices that took part in spoilt sums. An operator can clear or ban them. */
import type { SuspectState } from '@basa/client/operator';
import { SERVER_FLAGS, serverOperator } from '../flags/connection.ts';
import { short, wholeName } from '../flags/names.ts';
import { TAKES_TASK, taskArgument } from '../flags/which.ts';
import { type Command, CommandError, command } from '../shell/command.ts';
import { text } from '../shell/flag.ts';
import { counted, percent, table } from '../shell/terminal.ts';

const HEADINGS = ['user', 'suspicion', 'state', 'spoilt sums', 'suspensions', 'suspended for'];

export const taskSuspects: Command = command({
  name: 'task suspects',
  summary: 'list the devices that are suspected of spoiling sums, and clear or ban one',
  takes: TAKES_TASK,
  flags: {
    clear: text({ value: 'user', help: 'clear a device of suspicion; give its first digits in the list' }),
    ban: text({
      value: 'user',
      help: 'exclude a device until you clear it; give its whole user id, or its first digits in the list',
    }),
    ...SERVER_FLAGS,
  },
  notes: [
    'A spoilt sum does not show who spoilt it. The suspicion is the probability that a device spoils sums, given which devices took part in which sums.',
  ],
  async run(input) {
    const server = await serverOperator(input);
    const task = await taskArgument(input, server);
    const { clear, ban } = input.flags;
    if (clear !== undefined && ban !== undefined)
      throw new CommandError('--clear and --ban cannot be combined; choose one');
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
});

function rowOf({ user, suspicion, state, spoilt, suspensions, sumsLeft }: SuspectState): string[] {
  return [
    short(user),
    percent(suspicion),
    state,
    String(spoilt),
    String(suspensions),
    sumsLeft === undefined ? '-' : counted(sumsLeft, 'sum'),
  ];
}
