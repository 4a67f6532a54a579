/** The public interface of a package as one reviewable page: the declarations of every entry, in the order of their names. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Declared, readEntry } from './declarations.ts';
import type { Manifest } from './published-manifest.ts';

/** `folder` is a built package. */
export function apiReport(folder: string): string {
  const {
    name,
    description,
    exports: entries,
  } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const sections = Object.entries(entries).map(([entry, target]) => {
    const types = typeof target === 'object' ? target['types'] : undefined;
    if (typeof types !== 'string') throw new Error(`${name}: ${entry} has no types`);
    return entryReport(`${name}${entry.slice(1)}`, join(folder, types));
  });
  const note =
    'Written by `npm run write -- api` from the built declarations; `npm run gate -- packages` holds it to them.';
  return [`# Interface of ${name}`, `${description}.`, note, ...sections].join('\n\n').concat('\n');
}

function entryReport(entry: string, path: string): string {
  const { exported, inner } = readEntry(path);
  const rest =
    inner.length === 0 ? [] : [`## Not exported by \`${entry}\`, but a part of what is`, ...inner.map(block)];
  return [`## \`${entry}\``, ...exported.map(block), ...rest].join('\n\n');
}

function block({ name, text }: Declared): string {
  return `### ${name}\n\n\`\`\`ts declaration\n${text.replace(/^export (?:declare )?/gm, '')}\n\`\`\``;
}
