/** Finds the task or device of a command, by its name or its first digits. */

import type { AuthorityOperator, ServerOperator } from '@basa/client/operator';
import { CommandError, type CommandInput } from '../shell/command.ts';
import { type Named, wholeName } from './names.ts';

export const TAKES_TASK = { '<task>': 'name or first digits of the task (variable: BASA_TASK)' };
export const TAKES_NAMED_TASK = { '<task>': 'name or first digits of the task' };

const TASK = { kind: 'task', listed: '`basa task ls`' };

interface Tasks {
  tasks(): Promise<readonly { readonly task: string; readonly name: string }[]>;
}

/** The first argument, or the variable that `basa dev` prints. */
export function taskArgument(
  { positionals, environment }: Pick<CommandInput, 'positionals' | 'environment'>,
  server: ServerOperator,
): Promise<string> {
  return givenTask(positionals[0] ?? environment['BASA_TASK'], server);
}

/** Takes only the first argument, never the variable: irreversible actions need an explicitly named task. */
export function namedTask(
  { positionals: [text] }: Pick<CommandInput, 'positionals'>,
  server: ServerOperator,
): Promise<string> {
  return givenTask(text, server);
}

async function givenTask(text: string | undefined, server: ServerOperator): Promise<string> {
  if (text === undefined)
    throw new CommandError('name a task, by its name or its first digits; `basa task ls` lists all tasks');
  return taskNamed(text, server);
}

function taskNamed(text: string, service: Tasks): Promise<string> {
  const list = async (): Promise<readonly Named[]> =>
    (await service.tasks()).map(({ task, name }) => ({ hex: task, name }));
  return wholeName(text, TASK, list);
}

/** For a change of the task at all of its authorities. */
export function agreedTask(text: string, authority: AuthorityOperator): Promise<string> {
  return agreed(text, authority, (one) => taskNamed(text, one));
}

/** Returns the user id of a device, by the digits of that id or of its key. */
export function agreedDevice(text: string, by: 'user' | 'deviceKey', authority: AuthorityOperator): Promise<string> {
  return agreed(text, authority, (one) => deviceNamed(text, by, one));
}

/**
 * One authority could name another task or device. More than two thirds of them are more than may collude, for each n
 * and t that docs/guides/several-authorities.md recommends.
 */
async function agreed(
  text: string,
  authority: AuthorityOperator,
  find: (one: AuthorityOperator) => Promise<string>,
): Promise<string> {
  const all = authority.owned();
  const found = await fromAll(all, find);
  const needed = Math.floor((2 * all.length) / 3) + 1;
  const name = found.find((one) => found.filter((other) => other === one).length >= needed);
  if (name !== undefined) return name;
  throw new CommandError(
    `the authorities do not agree what "${text}" is: ${needed} of ${all.length} must name the same; give all 64 digits`,
  );
}

/** The answers of the authorities that answer; an error only if none does. */
export async function fromAll<Answer>(
  all: readonly AuthorityOperator[],
  question: (one: AuthorityOperator) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const answers = await Promise.allSettled(all.map(question));
  const good = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const failed = answers.find((one) => one.status === 'rejected');
  if (good.length === 0 && failed !== undefined) throw failed.reason;
  return good;
}

async function deviceNamed(text: string, by: 'user' | 'deviceKey', authority: AuthorityOperator): Promise<string> {
  const devices = async () =>
    (await Promise.all((await authority.tasks()).map(({ task }) => authority.devices(task)))).flat();
  let known: Awaited<ReturnType<typeof devices>> = [];
  const whole = await wholeName(text, { kind: 'device', listed: '`basa device list`' }, async () => {
    known = await devices();
    return [...new Set(known.map((device) => device[by]))].map((hex) => ({ hex }));
  });
  return by === 'user' ? whole : (known.find(({ deviceKey }) => deviceKey === whole)?.user ?? whole);
}
