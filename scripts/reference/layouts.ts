/** The layouts in docs/wire-format.md, from the tables of the codecs: the same tables that encode and decode. */
import { LAYOUTS, type PublishedLayout } from '@basa/protocol/internal/layouts.ts';
import { between } from './marks.ts';

export const LAYOUTS_PAGE = 'docs/wire-format.md';

/** The page with the layouts between its two marks. */
export function withLayouts(page: string): string {
  const layouts = [...LAYOUTS].sort((a, b) => a.layout.kind - b.layout.kind).map(layoutText);
  return between(page, 'layouts', `\`\`\`text\n${layouts.join('\n')}\n\`\`\``);
}

/** On one line if it is short, else with one line for each field. */
function layoutText({ layout: { kind, name, fields }, signer }: PublishedLayout): string {
  const head = `${String(kind).padStart(2)} ${name}, ${signer.startsWith('not') || signer.startsWith('only') ? signer : `signed by ${signer}`}:`;
  return [head, ...linesOf(fields)].join('\n');
}

const INDENT = '     ';
const WIDTH = 130;

/** Breaks between fields, never within a group in brackets that fits on a line. */
function linesOf(fields: string): readonly string[] {
  const lines: string[] = [];
  for (const word of fields.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < WIDTH) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(INDENT + word);
  }
  return lines;
}
