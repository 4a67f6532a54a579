/** Rows as CSV (RFC 4180): every column that any row has. */

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
