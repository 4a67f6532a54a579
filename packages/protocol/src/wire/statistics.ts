/**
 * Statistics tasks have fields instead of a model: a device reports a value of each, at most once in every window of time, and the server
 * learns sums over a batch. Values become whole words of known size: they are neither clipped nor rounded at random.
 */

import type { Millis, TaskId } from './fields.ts';
import { checked, type Field, finite, flag, list, oneOf, optional, positive, record, text, u32 } from './fields.ts';
import type { ModelStatementBody } from './model.ts';

/** The mean of a number: counted in steps around the middle of its range. */
interface NumberField {
  readonly kind: 'number';
  readonly name: string;
  readonly low: number;
  readonly high: number;
  readonly step: number;
}

/** The number of devices between each two edges, and of those outside of all. */
interface HistogramField {
  readonly kind: 'histogram';
  readonly name: string;
  readonly edges: readonly number[];
}

/** The number of devices with each of these words, and of those with another one. */
interface ChoicesField {
  readonly kind: 'choices';
  readonly name: string;
  readonly choices: readonly string[];
}

export type StatisticsField = NumberField | HistogramField | ChoicesField;

/** The lines of a policy that only a statistics task has. */
export interface StatisticsPolicy {
  readonly fields: readonly StatisticsField[];
  /** A device reports at most once in each window of this length, by its own clock. */
  readonly windowMs: number;
  /**
   * Sums without noise; then each device reports once in the life of the task. Exact sums of changing groups over unchanged values are
   * linear equations, which an honest server could solve for every value.
   */
  readonly unsafeExact: boolean;
}

/** The name of the last bucket: of values between no edges, and of words that are not among the choices. */
export const OTHER = 'other';
const MAX_FIELDS = 64;
const MAX_EDGES = 256;
/** Of all fields of a task: a report has one word for each number, and one for each bucket. */
const MAX_WORDS = 4096;
const MAX_NAME = 32;

/** Returns a sentence that says why these fields cannot be used, or undefined. */
function fieldsProblem(fields: readonly StatisticsField[]): string | undefined {
  if (fields.length === 0) return 'a statistics task needs at least one field';
  for (const [n, field] of fields.entries()) {
    const { name } = field;
    if (!/^[a-zA-Z][a-zA-Z0-9_-]*$/.test(name))
      return `the name of a field is a letter, then letters, digits, "_" and "-"; got "${name}"`;
    if (fields.findIndex((other) => other.name === name) !== n) return `two fields are named "${name}"`;
    const problem = valuesProblem(field);
    if (problem !== undefined) return `the field ${name} ${problem}`;
  }
  const words = statisticsWords(fields);
  return words <= MAX_WORDS ? undefined : `the fields have ${words} words together, at most ${MAX_WORDS} are possible`;
}

function valuesProblem(field: StatisticsField): string | undefined {
  switch (field.kind) {
    case 'number': {
      const steps = (field.high - field.low) / field.step;
      return steps >= 1 && steps <= 2 ** 31 ? undefined : 'needs low < high, and from 1 to 2^31 steps between them';
    }
    case 'histogram': {
      const { edges } = field;
      const isRising = edges.every((edge, n) => n === 0 || edge > (edges[n - 1] as number));
      return edges.length >= 2 && isRising ? undefined : 'needs at least two edges that rise';
    }
    case 'choices': {
      const { choices } = field;
      const isGood = (choice: string, n: number): boolean =>
        /^[a-zA-Z0-9][a-zA-Z0-9 _.-]*$/.test(choice) && choice !== OTHER && choices.indexOf(choice) === n;
      return choices.length >= 1 && choices.every(isGood)
        ? undefined
        : `needs choices that differ, of letters, digits, " ", "_", "." and "-"; "${OTHER}" is always there`;
    }
  }
}

const KINDS = ['number', 'histogram', 'choices'] as const;
const kindField = oneOf(KINDS);
const name = text(MAX_NAME);

const LAYOUTS: { readonly [Kind in StatisticsField['kind']]: Field<Omit<Of<Kind>, 'kind'>> } = {
  number: record({ name, low: finite, high: finite, step: positive }),
  histogram: record({ name, edges: list(MAX_EDGES, finite) }),
  choices: record({ name, choices: list(MAX_EDGES, name) }),
};
type Of<Kind> = Extract<StatisticsField, { readonly kind: Kind }>;

/** A byte for the kind, then its lines. */
const fieldField: Field<StatisticsField> = {
  type: KINDS.map((kind) => `${kind} ${LAYOUTS[kind].type}`).join(' | '),
  write(writer, field) {
    kindField.write(writer, field.kind);
    (LAYOUTS[field.kind] as Field<StatisticsField>).write(writer, field);
  },
  read(reader, path) {
    const kind = kindField.read(reader, `${path}.kind`);
    return { kind, ...LAYOUTS[kind].read(reader, path) } as StatisticsField;
  },
};

/** One byte says whether there are any. */
export const statisticsField: Field<StatisticsPolicy | undefined> = optional(
  record<StatisticsPolicy>({
    fields: checked(list(MAX_FIELDS, fieldField), fieldsProblem),
    windowMs: checked(u32, (value) => (value > 0 ? undefined : 'must be at least a millisecond')),
    unsafeExact: flag,
  }),
);

/** The number of words of a field in a report. */
export function fieldWords(field: StatisticsField): number {
  switch (field.kind) {
    case 'number':
      return 1;
    case 'histogram':
      return field.edges.length;
    case 'choices':
      return field.choices.length + 1;
  }
}

/** The dimension of a task with these fields. */
export function statisticsWords(fields: readonly StatisticsField[]): number {
  return fields.reduce((sum, field) => sum + fieldWords(field), 0);
}

/** The largest absolute value of a field: half its steps, or one bucket. */
function largestValue(field: StatisticsField): number {
  return field.kind === 'number' ? nearest((field.high - field.low) / 2 / field.step) : 1;
}

/**
 * The words of a field for a step or a device: all words get the same noise, so small fields are scaled up to the largest. Otherwise a number
 * with many steps would drown the histograms beside it.
 */
export function fieldScale(field: StatisticsField, fields: readonly StatisticsField[]): number {
  return Math.floor(Math.max(...fields.map(largestValue)) / largestValue(field));
}

/** The largest absolute value of a word of a report, before the level. */
export function largestWord(field: StatisticsField, fields: readonly StatisticsField[]): number {
  return fieldScale(field, fields) * largestValue(field);
}

/** D at a level of 1: one device changes each number by at most its largest word, and one bucket of each histogram by its scale. */
export function statisticsNorm(fields: readonly StatisticsField[]): number {
  return Math.sqrt(fields.reduce((sum, field) => sum + largestWord(field, fields) ** 2, 0));
}

/** Half steps go up, in every language. */
function nearest(value: number): number {
  return Math.floor(value + 0.5);
}

/** A value of each field, by its name. */
export type Report = Readonly<Record<string, number | string>>;

export interface ReportWords {
  /** Before the level. */
  readonly words: Int32Array;
  /** The fields whose value is out of range, or not among the choices. The report is sent as it is. */
  readonly outside: readonly string[];
}

/**
 * Throws a `TypeError` if a field is missing or unknown, or has a value of another type. No other value is refused: one that is out of range
 * counts as the nearest bound, or in the last bucket, because a report that does not come would tell the server something about it.
 */
export function reportWords(fields: readonly StatisticsField[], report: Report): ReportWords {
  const unknown = Object.keys(report).find((key) => !fields.some((field) => field.name === key));
  if (unknown !== undefined) throw new TypeError(`the task has no field ${unknown}`);
  const words = new Int32Array(statisticsWords(fields));
  const outside: string[] = [];
  let at = 0;
  for (const field of fields) {
    const { index, word, isInside } = coded(field, Object.hasOwn(report, field.name) ? report[field.name] : undefined);
    words[at + index] = word * fieldScale(field, fields);
    if (!isInside) outside.push(field.name);
    at += fieldWords(field);
  }
  return { words, outside };
}

interface Coded {
  readonly index: number;
  readonly word: number;
  readonly isInside: boolean;
}

function coded(field: StatisticsField, value: number | string | undefined): Coded {
  const type = field.kind === 'choices' ? 'string' : 'number';
  if (typeof value !== type) throw new TypeError(`the field ${field.name} needs a ${type}, got ${typeof value}`);
  switch (field.kind) {
    case 'number': {
      const number = Math.min(field.high, Math.max(field.low, Number.isNaN(value) ? field.low : (value as number)));
      const most = largestValue(field);
      const steps = nearest((number - (field.low + field.high) / 2) / field.step);
      return { index: 0, word: Math.max(-most, Math.min(most, steps)), isInside: number === value };
    }
    case 'histogram': {
      const { edges } = field;
      const index = edges.findIndex(
        (edge, n) => edge <= (value as number) && (value as number) < (edges[n + 1] ?? edge),
      );
      return { index: index < 0 ? edges.length - 1 : index, word: 1, isInside: index >= 0 };
    }
    case 'choices': {
      const index = field.choices.indexOf(value as string);
      return { index: index < 0 ? field.choices.length : index, word: 1, isInside: index >= 0 || value === OTHER };
    }
  }
}

/** The number of the window of this moment. */
export function windowAt({ windowMs }: Pick<StatisticsPolicy, 'windowMs'>, now: Millis): number {
  return Math.floor(now / windowMs);
}

/**
 * Takes the place of the statement of a model. Nobody signs it: a device computes it from its own clock, whatever it is shown. The serial is
 * the beginning of the window, so that it rises also from a task to its successor with other windows.
 */
export function windowStatement(
  task: TaskId,
  { windowMs }: Pick<StatisticsPolicy, 'windowMs'>,
  window: number,
): ModelStatementBody {
  return { task, version: window, serial: window * windowMs, modelHash: task };
}

/** Fields as an application writes them: by their names, each with the lines of one kind. */
export type FieldDefinitions = Readonly<
  Record<
    string,
    | { readonly low: number; readonly high: number; readonly step: number }
    | { readonly edges: readonly number[] }
    | { readonly choices: readonly string[] }
  >
>;

/** The report that these fields ask for; any report, if nothing is known about them. */
export type ReportOf<Definitions extends FieldDefinitions> = FieldDefinitions extends Definitions
  ? Report
  : {
      readonly [Name in keyof Definitions]: Definitions[Name] extends { readonly choices: readonly (infer Choice)[] }
        ? Choice | typeof OTHER
        : number;
    };

/** Gives `report` its type, and `createTask` its fields. */
export function defineFields<const Definitions extends FieldDefinitions>(definitions: Definitions): Definitions {
  return definitions;
}

/** Throws a `RangeError` for what is not the definition of a field. */
export function fieldsOf(definitions: FieldDefinitions): readonly StatisticsField[] {
  const fields = Object.entries(definitions).map(([name, lines]): StatisticsField => {
    const [kind] = KINDS.filter((one) => LINES[one].join() === Object.keys(lines).sort().join());
    if (kind === undefined)
      throw new RangeError(
        `the field ${name} needs low, high and step, or edges, or choices; got ${Object.keys(lines)}`,
      );
    return { kind, name, ...lines } as StatisticsField;
  });
  const problem = fieldsProblem(fields);
  if (problem !== undefined) throw new RangeError(problem);
  return fields;
}

const LINES = { number: ['high', 'low', 'step'], histogram: ['edges'], choices: ['choices'] } as const;
