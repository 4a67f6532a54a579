/** `basa config ...`: what a service would run with, and what it could be told. */
import { writeFile } from 'node:fs/promises';
import { type Command, type CommandInput, textFlag } from '../command.ts';
import { PRESET_NAMES, servicePreset } from '../presets.ts';
import { table } from '../terminal.ts';
import { CONFIG_FLAGS, CONFIG_USAGE, type Places, placesOf, type ServiceName, serviceOf } from './places.ts';

interface Checked {
  readonly config: Readonly<Record<string, unknown>>;
  readonly from: Readonly<Record<string, string>>;
  readonly risks: readonly string[];
}

async function check(service: ServiceName, places: Places): Promise<Checked> {
  if (service === 'server') return (await import('@basa/server')).checkServerConfig(places);
  return (await import('@basa/authority')).checkAuthorityConfig(places);
}

async function keysOf(service: ServiceName) {
  const { configKeys } = await import('@basa/service');
  if (service === 'server') {
    const { SERVER_PREFIX, serverConfigSchema } = await import('@basa/server');
    return configKeys(serverConfigSchema, SERVER_PREFIX);
  }
  const { AUTHORITY_PREFIX, authorityConfigSchema } = await import('@basa/authority');
  return configKeys(authorityConfigSchema, AUTHORITY_PREFIX);
}

export const configCheck: Command = {
  name: 'config check',
  summary: "reads a service's configuration as the service would, and says what is risky",
  usage: `  server | authority   which service
${CONFIG_USAGE}
  Prints every key with its value and where it comes from; of secrets only whether they are set.
  Ends with code 2 where the service would refuse it.`,
  flags: CONFIG_FLAGS,
  positionals: 1,
  async run(input: CommandInput) {
    const service = serviceOf(input);
    const { config, from, risks } = await check(service, placesOf(input));
    const settings = (await keysOf(service)).map(({ key, isSecret }) => {
      const value = config[key];
      const shown = isSecret ? (value === undefined ? 'not set' : 'set') : value;
      return { key, ...(shown !== undefined && { value: shown }), ...(from[key] !== undefined && { from: from[key] }) };
    });
    const rows = settings.map(({ key, value, from: origin }) => [key, wordsOf(value), origin ?? '']);
    input.terminal.line(table([['key', 'value', 'from'], ...rows]));
    for (const risk of risks) input.terminal.warn(`warning: ${risk}`);
    return { json: { settings, warnings: risks } };
  },
};

export const configPrint: Command = {
  name: 'config print',
  summary: 'prints every key of a service with its default and meaning, or writes a file to begin with',
  usage: `  server | authority   which service
  --preset <name>      ${PRESET_NAMES.join(' or ')}: settings that go together
  --out <file>         write a file to begin with instead; a file that is there is left alone`,
  flags: { preset: { type: 'string' }, out: { type: 'string' } },
  positionals: 1,
  async run(input) {
    const service = serviceOf(input);
    const preset = servicePreset(textFlag(input, 'preset'), service);
    const keys = await keysOf(service);
    const { exampleConfig } = await import('@basa/service');
    const file: Readonly<Record<string, unknown>> = { ...exampleConfig(keys), ...preset };
    const out = textFlag(input, 'out');
    if (out !== undefined) {
      await writeFile(out, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
      input.terminal.line(`${out}: look at each key before you use it; \`basa config print ${service}\` explains them`);
      return { json: file };
    }
    for (const { key, variable, description, isSecret, isNeeded } of keys) {
      const value = isSecret ? `secret: ${variable}, or ${key}File` : wordsOf(file[key]) || '-';
      input.terminal.line(`${key}${isNeeded ? ' (needed)' : ''} = ${value}`);
      input.terminal.line(`    ${description}${isSecret ? '' : `; ${variable}`}`);
    }
    return { json: file };
  },
};

function wordsOf(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
