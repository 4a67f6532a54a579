/** The addresses of the services: from flags, or from the variables that `basa dev` prints. */

import type { AuthorityOperator, ServerOperator } from '@basa/client/operator';
import { CommandError, type CommandInput, needed, text, yes } from '../shell/command.ts';

/** For the owner of the network in between, for example one of containers. */
export const PLAIN_HTTP_FLAGS = {
  'unsafe-plain-http': yes('allow plain http to another machine', 'BASA_UNSAFE_PLAIN_HTTP'),
};

export const SERVER_TOKEN = { help: "the operator's token of the server", variable: 'BASA_OPERATOR_TOKEN' };

export const SERVER_FLAGS = {
  server: needed({ value: 'url', help: 'address of the server', variable: 'BASA_SERVER' }),
  token: text(SERVER_TOKEN),
  ...PLAIN_HTTP_FLAGS,
};

const AUTHORITY_TOKEN = {
  help: 'token of the authority; for several, one each, separated by commas, and empty for those of other owners',
  variable: 'BASA_AUTHORITY_TOKEN',
};

export const AUTHORITY_FLAGS = {
  authority: needed({
    value: 'url',
    help: 'address of the authority, or several separated by commas',
    variable: 'BASA_AUTHORITY',
  }),
  ...PLAIN_HTTP_FLAGS,
  'authority-token': needed(AUTHORITY_TOKEN),
};

type ServerInput = CommandInput<typeof SERVER_FLAGS>;
type AuthorityInput = CommandInput<Omit<typeof AUTHORITY_FLAGS, 'authority-token'>> & {
  readonly flags: { readonly 'authority-token'?: string | undefined };
};

export async function serverOperator({ flags, signal }: ServerInput): Promise<ServerOperator> {
  const { server: url, token } = flags;
  await checkAddress(flags, 'server', url);
  const { ServerOperator } = await import('@basa/client/operator');
  return new ServerOperator({ url, token, signal, unsafeAllowPlainHttp: flags['unsafe-plain-http'] });
}

/** `whenBack`: the advice about an authority that was missed. */
export async function authorityOperator(
  { flags, signal, terminal }: AuthorityInput,
  whenBack = 'run this command again when it is back',
): Promise<AuthorityOperator> {
  const { authority: url } = flags;
  for (const one of url.split(',')) await checkAddress(flags, 'authority', one);
  const { AuthorityOperator } = await import('@basa/client/operator');
  return new AuthorityOperator({
    url,
    token: flags['authority-token'],
    signal,
    unsafeAllowPlainHttp: flags['unsafe-plain-http'],
    onMissed: (error) => terminal.warn(`${error.message}\nThe other authorities have accepted it; ${whenBack}.`),
  });
}

/** A holder of an operator's token controls the service, so the token never goes over plain http to another machine. */
async function checkAddress(
  flags: CommandInput<typeof PLAIN_HTTP_FLAGS>['flags'],
  name: string,
  url: string,
): Promise<void> {
  const { protocol, hostname } = urlOf(url, name);
  const { Network } = await import('@basa/protocol/http');
  if (protocol === 'http:' && !Network.isLoopback(hostname) && !flags['unsafe-plain-http'])
    throw new CommandError(
      `--${name} ${url} is plain http to another machine; use https, or add --unsafe-plain-http if you control the network in between`,
    );
}

function urlOf(address: string, name: string): URL {
  try {
    return new URL(address);
  } catch {
    throw new CommandError(`--${name} takes an address such as https://host:port, got "${address}"`);
  }
}

export const TAKES_TASK = { '<task>': 'name or first digits of the task (variable: BASA_TASK)' };
export const TAKES_NAMED_TASK = { '<task>': 'name or first digits of the task' };

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

function taskNamed(text: string, service: Pick<ServerOperator | AuthorityOperator, 'tasks'>): Promise<string> {
  return wholeName(text, 'task', '`basa task ls`', async () =>
    (await service.tasks()).map(({ task, name }) => ({ hex: task, name })),
  );
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
  const whole = await wholeName(text, 'device', '`basa device list`', async () => {
    known = await devices();
    return [...new Set(known.map((device) => device[by]))].map((hex) => ({ hex }));
  });
  return by === 'user' ? whole : (known.find(({ deviceKey }) => deviceKey === whole)?.user ?? whole);
}

/** Shown if a whole name is not needed: here, on the pages and in metrics. */
const SHORT_DIGITS = 8;
const MIN_DIGITS = 4;

export function short(hex: string): string {
  return hex.slice(0, SHORT_DIGITS);
}

export interface Named {
  readonly hex: string;
  /** The name that people use, if there is one. */
  readonly name?: string;
}

/** Returns a whole name as it is, without a request. `kind`: what is looked for, "task"; `listed`: the command that lists them. */
export async function wholeName(
  text: string,
  kind: string,
  listed: string,
  list: () => Promise<readonly Named[]>,
): Promise<string> {
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  const all = await list();
  const called = all.filter(({ name }) => name === text);
  const isPrefix = text.length >= MIN_DIGITS && /^[0-9a-f]{4,63}$/.test(text);
  const found = called.length > 0 ? called : isPrefix ? all.filter(({ hex }) => hex.startsWith(text)) : [];
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only.hex;
  if (only === undefined)
    throw new CommandError(
      `there is no ${kind} "${text}"; give its name or at least its first ${MIN_DIGITS} digits; ${listed} lists them`,
    );
  const shown = found
    .slice(0, 5)
    .map(({ hex, name }) => (name === undefined ? hex.slice(0, 16) : `${hex.slice(0, 16)} (${name})`));
  throw new CommandError(`"${text}" matches ${found.length} ${kind}s: ${shown.join(', ')}; give more digits`);
}
