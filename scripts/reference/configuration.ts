/** The keys of both services' configuration, from the schemas that hold it. */

import { authorityConfigSchema } from '@basa/authority/internal/process/config.ts';
import { serverConfigSchema } from '@basa/server/internal/process/config.ts';
import { commonKeys } from '@basa/service';
import { markdownPage, markdownTable } from './markdown.ts';

/** The part of a JSON schema that is read. */
interface Key {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly anyOf?: readonly { readonly const?: string }[];
  readonly items?: Key;
  readonly properties?: Readonly<Record<string, Key>>;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly 'x-secret'?: boolean;
}

interface Schema {
  readonly properties: Readonly<Record<string, Key>>;
  readonly required?: readonly string[];
}

export function configurationPage(): string {
  const services = { server: serverConfigSchema as Schema, authority: authorityConfigSchema as Schema };
  const own = Object.entries(services).map(([name, schema]) => {
    const keys = Object.keys(schema.properties).filter((key) => !(key in commonKeys));
    return `## ${name === 'server' ? 'Server' : 'Authority'}\n\nVariables begin with \`BASA_${name.toUpperCase()}_\`.\n\n${tableOf(schema, keys)}`;
  });
  return markdownPage(
    '# Configuration',
    `A service reads a JSON file, then environment variables, then \`--set key=value\` of the command line; later values win. The key \`dataFolder\` is \`BASA_SERVER_DATA_FOLDER\` or \`BASA_AUTHORITY_DATA_FOLDER\`; values that are not text are JSON (\`BASA_SERVER_PORT=7800\`, \`BASA_SERVER_CORS_ORIGINS='["https://example.org"]'\`). Unknown keys are refused, and messages name the key. Secrets come only from their variable, or from a file named by \`<key>File\`. [Operations](../operations.md) explains how to run the services.`,
    '## Both services',
    tableOf(services.server, Object.keys(commonKeys)),
    ...own,
  );
}

function tableOf({ properties, required = [] }: Schema, keys: readonly string[]): string {
  const rows = keys.map((name) => {
    const key = properties[name] ?? {};
    if (key.description === undefined) throw new Error(`the key ${name} has no description in its schema`);
    const isNeeded = required.includes(name) && key.default === undefined;
    const fallback = key.default === undefined ? (isNeeded ? 'needed' : '–') : `\`${JSON.stringify(key.default)}\``;
    return [`\`${name}\``, kindOf(key), fallback, key.description];
  });
  return markdownTable(['key', 'type', 'default', 'meaning'], rows);
}

function kindOf(key: Key): string {
  if (key['x-secret'] === true) return 'text, secret';
  if (key.anyOf !== undefined) return key.anyOf.map((choice) => `\`${choice.const}\``).join(', ');
  if (key.type === 'array') return `list of ${kindOf(key.items ?? {})}`;
  if (key.type === 'object') return `\`{ ${Object.keys(key.properties ?? {}).join(', ')} }\``;
  if (key.type === 'string') return /^\^\[0-9a-f\]/.test(key.pattern ?? '') ? 'hexadecimal' : 'text';
  const least = key.minimum ?? key.exclusiveMinimum;
  const bound = least === undefined ? '' : key.minimum === undefined ? ` above ${least}` : ` from ${least}`;
  return key.type === 'integer' ? `whole number${bound}` : key.type === 'number' ? `number${bound}` : `${key.type}`;
}
