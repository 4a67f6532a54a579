/** Small pieces of the pages that are written from code. */

export function markdownTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(titles), `|${'---|'.repeat(titles.length)}`, ...rows.map(line)].join('\n');
}

/** The paragraphs of a page. */
export function markdownPage(...parts: readonly string[]): string {
  return `${parts.join('\n\n')}\n`;
}
