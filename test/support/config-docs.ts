/** The tables of configuration keys in docs/operations.md, from the schemas that the services hold files to. */
import { AUTHORITY_PREFIX, authorityConfig } from '@basa/authority';
import { SERVER_PREFIX, serverConfig } from '@basa/server';
import type { ConfigKey } from '@basa/service';
import { commonKeys, configKeys } from '@basa/service';

const server = configKeys(serverConfig, SERVER_PREFIX);
const authority = configKeys(authorityConfig, AUTHORITY_PREFIX);
const common = new Set(Object.keys(commonKeys));

const TABLES: Readonly<Record<string, readonly ConfigKey[]>> = {
  both: server.filter(({ key }) => common.has(key)),
  'the server': server.filter(({ key }) => !common.has(key)),
  'the authority': authority.filter(({ key }) => !common.has(key)),
};

/** The page with its tables as they should be. */
export function withTables(page: string): string {
  return Object.entries(TABLES).reduce((text, [name, keys]) => {
    const [begin, end] = [`<!-- keys of ${name} -->`, `<!-- end of the keys of ${name} -->`];
    const parts = text.split(begin);
    const rest = parts[1]?.split(end);
    if (parts.length !== 2 || rest?.length !== 2) throw new Error(`docs/operations.md has no place "${begin}"`);
    return `${parts[0]}${begin}\n${tableOf(name, keys)}\n${end}${rest[1]}`;
  }, page);
}

function tableOf(name: string, keys: readonly ConfigKey[]): string {
  const rows = keys.map(({ key, description, fallback, isSecret, isNeeded, variable }) => {
    const value = isSecret ? `\`${variable}\` or \`${key}File\`` : fallbackText(fallback, isNeeded);
    return `| \`${key}\` | ${value} | ${description} |`;
  });
  return [`| key of ${name} | default | |`, '|---|---|---|', ...rows].join('\n');
}

function fallbackText(fallback: unknown, isNeeded: boolean): string {
  if (fallback === undefined) return isNeeded ? 'needed' : '–';
  const { burst, perSecond } = fallback as { readonly burst?: number; readonly perSecond?: number };
  if (burst !== undefined) return `${burst}, then ${perSecond} a second`;
  if (Array.isArray(fallback)) return 'none';
  return `\`${typeof fallback === 'string' ? fallback : JSON.stringify(fallback)}\``;
}
