/** `basa config ...`: the configuration of a service in force, and all its keys. */
import { writeFile } from 'node:fs/promises';
import { CONFIG_FLAGS, type Places, placesOf, type ServiceName, serviceOf } from '../flags/places.ts';
import { PRESET_NAMES, servicePreset } from '../flags/presets.ts';
import { type Command, command } from '../shell/command.ts';
import { choice, text } from '../shell/flag.ts';

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

export const configCheck: Command = command({
  name: 'config check',
  summary: "read a service's configuration as the service would, and warn about risky settings",
  takes: { 'server | authority': 'the service' },
  flags: CONFIG_FLAGS,
  notes: [
    'Prints every key with its value and the source of the value. For secrets, it prints only whether they are set.',
    'Exits with code 2 if the service would refuse the configuration.',
  ],
  async run(input) {
    const service = serviceOf(input);
    const { config, from, risks } = await check(service, placesOf(input));
    const settings = (await keysOf(service)).map(({ key, isSecret }) => {
      const value = config[key];
      const shown = isSecret ? (value === undefined ? 'not set' : 'set') : value;
      return { key, ...(shown !== undefined && { value: shown }), ...(from[key] !== undefined && { from: from[key] }) };
    });
    for (const line of settingLines(settings)) input.terminal.line(line);
    for (const risk of risks) input.terminal.warn(`warning: ${risk}`);
    return { json: { settings, warnings: risks } };
  },
});

export const configPrint: Command = command({
  name: 'config print',
  summary: 'print every configuration key of a service with its default and meaning, or write a first file',
  takes: { 'server | authority': 'the service' },
  flags: {
    preset: choice(PRESET_NAMES, { help: `${PRESET_NAMES.join(' or ')}: a set of values that fit together` }),
    out: text({
      value: 'file',
      help: 'write a configuration file instead; an existing file is not overwritten',
    }),
  },
  async run(input) {
    const service = serviceOf(input);
    const preset = servicePreset(input.flags.preset, service);
    const keys = await keysOf(service);
    const { exampleConfig } = await import('@basa/service');
    const file: Readonly<Record<string, unknown>> = { ...exampleConfig(keys), ...preset };
    const { out } = input.flags;
    if (out !== undefined) {
      await writeFile(out, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
      input.terminal.line(
        `wrote ${out}; check each key before you use it: \`basa config print ${service}\` explains them`,
      );
      return { json: file };
    }
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
