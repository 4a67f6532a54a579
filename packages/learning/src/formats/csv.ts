/** CSV (RFC 4180): rows with every column that any row has, and back. */

export type CsvRow = Readonly<Record<string, string | number | boolean | null | undefined>>;

export function csvOf(rows: readonly CsvRow[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = rows.map((row) => columns.map((name) => cell(row[name] ?? '')).join(','));
  return `${[columns.map(cell).join(','), ...lines].join('\r\n')}\r\n`;
}

function cell(value: string | number | boolean): string {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The rows of a file whose first line names the columns. Throws a `RangeError` for a line with another number of cells. */
export function csvRows(text: string): readonly Readonly<Record<string, string>>[] {
  const [columns = [], ...lines] = cellsOf(text.replace(/^\uFEFF/, ''));
  return lines.map((cells, n) => {
    if (cells.length !== columns.length)
      throw new RangeError(
        `row ${n + 1} has ${cells.length} cells, and the first line names ${columns.length} columns`,
      );
    return Object.fromEntries(columns.map((name, k) => [name, cells[k] as string]));
  });
}

/** A cell and what ends it. Empty lines are left out. */
const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;

function cellsOf(text: string): readonly (readonly string[])[] {
  const lines: string[][] = [];
  let line: string[] = [];
  CELL.lastIndex = 0;
  while (CELL.lastIndex < text.length || line.length > 0) {
    const found = CELL.exec(text);
    if (found === null) throw new RangeError(`a quotation mark in row ${lines.length} is out of place`);
    line.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? '');
    if (found[3] === ',') continue;
    if (line.length > 1 || line[0] !== '') lines.push(line);
    line = [];
  }
  return lines;
}
