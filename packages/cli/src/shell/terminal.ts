/** Output for people: lines and a status that redraws itself on a terminal, and is left out otherwise. */
import type { Live } from '@basa/protocol/http';

export interface Terminal {
  /** True if the output is a terminal. */
  readonly isLive: boolean;
  line(text?: string): void;
  /** Writes to standard error, so that a file with the lines contains no warnings. */
  warn(text: string): void;
  /** Replaces the status drawn before; several lines are fine. */
  status(text: string): void;
  clearStatus(): void;
}

/** The target of the output: a terminal gives its width. */
export interface OutStream {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

/** The targets of the output. */
export interface Streams {
  readonly stdout: OutStream;
  readonly stderr: OutStream;
}

/** Services send words that are shown here: characters that control a terminal, or turn the direction of text, become visible ones. */
const CONTROLS = /[^\P{Cc}\n\t]|\p{Bidi_Control}/gu;

export function printable(text: string): string {
  return text.replace(CONTROLS, '\u{fffd}');
}

/** The same for JSON, whose reader gets the characters as they were. */
export function printableJson(json: string): string {
  return json.replace(CONTROLS, (one) => `\\u${(one.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
}

/** With `--json` the words go to standard error, so that standard output holds the one line of JSON. */
export function createTerminal(stream: OutStream, warnings: OutStream): Terminal {
  const isLive = stream.isTTY === true;
  let drawn = 0;
  const clear = (): void => {
    if (drawn === 0) return;
    stream.write(`\r${drawn > 1 ? `\x1b[${drawn - 1}A` : ''}\x1b[J`);
    drawn = 0;
  };
  return {
    isLive,
    line(text = '') {
      clear();
      stream.write(`${printable(text)}\n`);
    },
    warn(text) {
      clear();
      warnings.write(`${printable(text)}\n`);
    },
    status(text) {
      if (!isLive) return;
      clear();
      // A line that wraps could not be erased.
      const lines = printable(text)
        .split('\n')
        .map((line) => [...line].slice(0, (stream.columns ?? 80) - 1).join(''));
      stream.write(lines.join('\n'));
      drawn = lines.length;
    },
    clearStatus: clear,
  };
}

/** `1 buffer`, `2 buffers`. */
export function counted(many: number, one: string): string {
  return `${many} ${one}${many === 1 ? '' : 's'}`;
}

const BAR_COLUMNS = 20;

export function bar(share: number): string {
  const filled = Math.round(Math.max(0, Math.min(1, share)) * BAR_COLUMNS);
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_COLUMNS - filled)}`;
}

const PLOT = { rows: 8, columns: 60 };

/**
 * Draws values between 0 and 1 as a few rows of characters, with `mark` as a line across. If there are many, it draws the
 * last ones.
 */
export function plot(values: readonly number[], mark: number, label: (value: number) => string): string {
  const { rows, columns } = PLOT;
  const shown = values.slice(-columns);
  const wide = Math.max(1, Math.floor(columns / Math.max(1, shown.length)));
  const rowOf = (value: number): number => Math.round((1 - Math.max(0, Math.min(1, value))) * (rows - 1));
  const lines = Array.from({ length: rows }, (_, row) => {
    const isMark = row === rowOf(mark);
    const cells = shown.map((value) =>
      (rowOf(value) === row ? '●' : isMark ? '·' : ' ').padEnd(wide, isMark ? '·' : ' '),
    );
    const text = isMark ? label(mark) : row === 0 ? label(1) : row === rows - 1 ? label(0) : '';
    return `${text.padStart(8)} │${cells.join('').padEnd(columns, isMark ? '·' : ' ')}`.trimEnd();
  });
  return lines.join('\n');
}

/** Writes a share of 1 as a percentage. */
export function percent(share: number | undefined): string {
  return share === undefined ? '-' : `${(100 * share).toFixed(2)} %`;
}

/** The score of a version, formatted for people: that of the server, or the operator's own. */
export function scoreCell({ accuracy, r2, evaluation }: Live.VersionScores): string {
  if (r2 !== undefined) return r2.toFixed(3);
  return accuracy === undefined && evaluation !== undefined
    ? String(Number(evaluation.score.toPrecision(4)))
    : percent(accuracy);
}

/** Columns as wide as their widest cell. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = rows.reduce<number[]>((most, row) => row.map((cell, n) => Math.max(most[n] ?? 0, cell.length)), []);
  return rows
    .map((row) =>
      row
        .map((cell, n) => cell.padEnd(widths[n] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
