/** `basa config ...`: the configuration of a service in force, and all its keys. */

import { type Command, CommandError, type CommandInput, command, defined, text, texts } from '../shell/command.ts';

export const CONFIG_FLAGS = {
  config: text({ value: 'file', help: 'JSON file with the configuration; `basa config print` explains its keys' }),
  set: texts({ value: 'key=value', help: 'set one key; overrides the file and the variables' }),
};

export interface Places {
  readonly file: string | undefined;
  readonly environment: CommandInput['environment'];
  readonly settings: readonly string[];
}

export function placesOf({ flags, environment }: CommandInput<typeof CONFIG_FLAGS>): Places {
  return { file: flags.config, environment, settings: flags.set };
}

export type ServiceName = 'server' | 'authority';

export const TAKES_SERVICE = { 'server | authority': 'the service' };

/** The positional argument that names the service. */
export function serviceOf({ positionals: [name] }: Pick<CommandInput, 'positionals'>): ServiceName {
  if (name === 'server' || name === 'authority') return name;
  throw new CommandError(
    name === undefined
      ? 'name a service: server or authority'
      : `there is no service "${name}"; choose server or authority`,
  );
}

/** What a service says about its configuration. */
async function schemaOf(service: ServiceName) {
  const { configKeys } = await import('@basa/service');
  if (service === 'server') {
    const { checkServerConfig, SERVER_PREFIX, serverConfigSchema } = await import('@basa/server');
    return { check: checkServerConfig, keys: configKeys(serverConfigSchema, SERVER_PREFIX) };
  }
  const { AUTHORITY_PREFIX, authorityConfigSchema, checkAuthorityConfig } = await import('@basa/authority');
  return { check: checkAuthorityConfig, keys: configKeys(authorityConfigSchema, AUTHORITY_PREFIX) };
}

export const configCheck: Command = command({
  name: 'config check',
  summary: "read a service's configuration as the service would, and warn about risky settings",
  takes: TAKES_SERVICE,
  flags: CONFIG_FLAGS,
  notes: [
    'Prints every key with its value and the source of the value. For secrets, it prints only whether they are set.',
    'Exits with code 2 if the service would refuse the configuration.',
  ],
  async run(input) {
    const { check, keys } = await schemaOf(serviceOf(input));
    const { from, risks, ...checked } = check(placesOf(input));
    const config: Readonly<Record<string, unknown>> = checked.config;
    const settings = keys.map(({ key, isSecret }) => {
      const value = isSecret ? (config[key] === undefined ? 'not set' : 'set') : config[key];
      return { key, ...defined({ value, from: from[key] }) };
    });
    for (const line of settingLines(settings)) input.terminal.line(line);
    const { tlsFindings } = await import('./findings.ts');
    const certificate = await tlsFindings(config);
    for (const { check: what, says } of certificate.filter(({ state }) => state === 'fine'))
      input.terminal.line(`${what}: ${says}`);
    const troubles = certificate.filter(({ state }) => state !== 'fine');
    const warnings = [...risks, ...troubles.map(({ check: what, says, todo }) => `${what}: ${says}; ${todo}`)];
    for (const warning of warnings) input.terminal.warn(`warning: ${warning}`);
    return { json: { settings, warnings } };
  },
});

export const configPrint: Command = command({
  name: 'config print',
  summary: 'print every configuration key of a service with its default and meaning',
  takes: TAKES_SERVICE,
  flags: {},
  notes: ['`basa init` writes a configuration; with --json, this command prints a file with every key to complete.'],
  async run(input) {
    const { keys } = await schemaOf(serviceOf(input));
    const { exampleConfig } = await import('@basa/service');
    const file: Readonly<Record<string, unknown>> = exampleConfig(keys);
    for (const { key, variable, description, isSecret, isNeeded } of keys) {
      const value = isSecret ? `secret: set ${variable}, or ${key}File` : wordsOf(file[key]) || '-';
      input.terminal.line(`${key}${isNeeded ? ' (required)' : ''} = ${value}`);
      input.terminal.line(`    ${description}${isSecret ? '' : `; ${variable}`}`);
    }
    return { json: file };
  },
});

/** Most terminals show this many columns without breaking lines. */
const COLUMNS = 100;

interface Setting {
  readonly key: string;
  readonly value?: unknown;
  readonly from?: string;
}

/** One line for each key; if it would be too long, value and origin are below it, and a long word is cut into pieces. */
function settingLines(settings: readonly Setting[]): readonly string[] {
  const rows = [
    ['key', 'value', 'from'],
    ...settings.map(({ key, value, from = '' }) => [key, wordsOf(value), from]),
  ] as const;
  const fits = rows.filter((row) => isShort(row));
  const widths = [0, 1].map((n) => Math.max(...fits.map((row) => (row[n] ?? '').length)));
  return rows.flatMap((row) => {
    const [key = '', value = '', from = ''] = row;
    const line = `${key.padEnd(widths[0] ?? 0)}  ${value.padEnd(widths[1] ?? 0)}  ${from}`.trimEnd();
    return line.length <= COLUMNS ? [line] : [key, ...pieces(value), ...pieces(from === '' ? '' : `from ${from}`)];
  });
}

/** Only short values decide the width of the columns. */
function isShort([key = '', value = '', from = '']: readonly string[]): boolean {
  return value.length <= COLUMNS / 3 && key.length + value.length + from.length <= COLUMNS - 20;
}

function pieces(words: string): readonly string[] {
  return words.match(/.{1,96}/g)?.map((piece) => `    ${piece}`) ?? [];
}

function wordsOf(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
